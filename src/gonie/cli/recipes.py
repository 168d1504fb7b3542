"""`gonie recipes`: list the shipped recipes."""

from __future__ import annotations


def recipes() -> None:
    """List the recipes that ship with gonie, by task.

    Train one with `gonie train RECIPE TRAIN`, or `gonie pretrain RECIPE` for a language model.
    """
    from rich.table import Table

    from gonie.messages import say
    from gonie.reports.console import MessageConsole
    from gonie.tasks.recipe import recipe_names, recipe_summary
    from gonie.tasks.table import TASKS

    console = MessageConsole(highlight=False)
    table = Table.grid(padding=(0, 2))
    for task in TASKS.values():
        table.add_row(f"[bold]{say(task.model)}[/]", f"[dim]gonie {task.command} RECIPE[/]")
        for name in recipe_names(task.name):
            table.add_row(f"  {name}", say(recipe_summary(name)))
    console.print(table)
