"""The recipe of an auxiliary head (``[heads.NAME]``) as that of a tagger of its own.

Such a tagger has the head's files and labels, and the embeddings and lower layers of the shared encoder. So
reading, scoring and exporting a head are those of any tagger.
"""

from __future__ import annotations

from pathlib import Path

from gonie.tasks.augment import TagAugmentConfig
from gonie.tasks.run_files import HEADS
from gonie.tasks.sections import NoiseConfig
from gonie.tasks.tagging.recipe import HeadConfig, TaggedFilesConfig, TagRecipe

FILES = ("train", "dev", "test", "map", *TaggedFilesConfig.model_fields)
"""Keys of ``data`` that a head has of its own. Others, such as the language, are those of the recipe."""


def head_recipe(recipe: TagRecipe, name: str) -> TagRecipe:
    """Return the recipe of the head ``name`` alone."""
    head, data, model = recipe.heads[name], recipe.data, recipe.model
    own = {key: getattr(head, key) for key in FILES}
    whole = {"leave_out": None, "replay": None, "partial": None, "size": None, "answers": None}
    copies = {"noise": NoiseConfig(), "augment": TagAugmentConfig()}
    cache = {"cache": str(Path(data.cache) / HEADS / name) if data.cache else None}
    layers = {"layers": head.layer} if head.layer else {}
    parts = {"head": HeadConfig(kind=head.kind), "encoder": model.encoder.model_copy(update=layers)}
    plain = {"start": None, "keep_labels": False, "replay": 0, "shots": 0, "episodes": None, "score_train": 0}
    return recipe.model_copy(
        update={
            "data": data.model_copy(update={**own, **whole, **copies, **cache}),
            "model": model.model_copy(update=parts),
            "train": recipe.train.model_copy(update={**plain, "baselines": False}),
            "heads": {},
            "loss": {},
            "variants": {},
        }
    )
