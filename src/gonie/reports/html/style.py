"""The common style sheet of every page: one layout, plain type, few colours, light and dark mode.

Colours are CSS custom properties on ``:root``, with other values in dark mode:

* ``--bg``, ``--fg``: background and text; ``--soft``: secondary text; ``--rule``: lines; ``--box``: the
  background of boxes; ``--field``: the border of inputs; ``--accent``, ``--on-accent``: links, focus and
  buttons, and the text on them. ``--page``: the width of a page.
* ``--right``, ``--due``, ``--given``: correct, in gold only, in the prediction only. ``--for``,
  ``--against``, ``--share``: supports, opposes, attention. They are written ``R G B``, for
  ``rgb(var(--right) / .2)``. The text colours ``--right-ink``, … belong to them.

Classes that pages share:

* ``c0`` … ``c9`` set ``--tone`` (``R G B``) and ``--ink`` (a text colour), the colour of a label. A span is
  ``<mark class="c3">text<small>PER 0.98</small></mark>``, and a label alone
  ``<span class="tag c3">PER</span>``. ``gonie.reports.html.colors.label_classes`` assigns the classes.
  ``right`` (solid line), ``due`` (dashed) and ``given`` (dotted) say whether a span is correct. ``neutral``
  marks without a label.
* ``h0`` … ``h10`` and ``n1`` … ``n10`` set ``--a`` to 0 … 1 for supporting and opposing weights. The element
  ``.heat-cell`` and the words of heat maps (``.w``) draw it as their background.
* ``facts`` (a ``dl`` of numbers), ``headline`` (the main number), ``note``, ``place`` and ``warning``
  (texts), ``scroll`` (a box around a wide table), ``stack`` (a table whose rows become blocks on a narrow
  screen; its cells have ``data-name``), ``sticky`` (a wide table whose first column stays in view),
  ``contents`` (a ``nav`` of links), ``controls`` (a row of labelled inputs), ``primary`` (the main button),
  ``sr-only`` (read aloud, not drawn).

Readers with red-green blindness can tell the hues apart, and text on them has a contrast of at least 4.5.
``tests/reports/html/test_style.py`` measures both. No fonts or images are loaded.
"""

LIGHT = (
    ("21 55 227", "#1537e3"), ("164 74 21", "#944517"), ("7 162 105", "#0f6b4c"), ("238 80 176", "#9a3c78"),
    ("166 143 0", "#6c600f"), ("113 70 166", "#7146a6"), ("13 146 229", "#136498"), ("223 5 75", "#b00b42"),
    ("64 78 34", "#404e22"), ("133 99 119", "#705566"),
)  # fmt: skip
DARK = (
    ("98 157 251", "#87b2f7"), ("246 119 17", "#f19953"), ("50 239 194", "#32efc2"),
    ("255 164 234", "#ffa4ea"), ("255 208 19", "#ffd013"), ("133 97 255", "#ae9af7"),
    ("55 151 165", "#76b5bf"), ("218 76 94", "#df8e9a"), ("136 207 76", "#88cf4c"),
    ("206 173 143", "#d0b398"),
)  # fmt: skip
"""The tone and the text colour of each class, in light and in dark mode."""


def _tones(colors: tuple[tuple[str, str], ...]) -> str:
    return "".join(f" --c{at}: {tone}; --c{at}-ink: {ink};" for at, (tone, ink) in enumerate(colors))


def _classes() -> str:
    labels = [f".c{at} {{ --tone: var(--c{at}); --ink: var(--c{at}-ink) }}" for at in range(len(LIGHT))]
    heat = [f".h{step}, .n{step} {{ --a: {step / 10:g} }}" for step in range(1, 11)]
    return "\n".join([*labels, ".h0 { --a: 0 }", *heat])


TOKENS = f"""
:root {{ color-scheme: light dark; --page: 68rem; --tint: .16; --deep: .62;
  --bg: #fff; --fg: #1b1f24; --soft: #57606a; --rule: #dde2e7; --box: #f5f7f9; --field: #7d8793;
  --accent: #0b5fa8; --on-accent: #fff;
  --right: 0 114 178; --due: 230 159 0; --given: 204 121 167;
  --right-ink: #005f96; --due-ink: #7d5200; --given-ink: #8f3a6b;
  --for: 0 114 178; --against: 224 130 0; --share: 0 158 115; --for-ink: #005f96; --against-ink: #8a4f00;
 {_tones(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ --tint: .24; --deep: .85;
  --bg: #14171b; --fg: #e6e9ed; --soft: #9aa5b1; --rule: #30363d; --box: #1d2228; --field: #7a8694;
  --accent: #7cc4f0; --on-accent: #10202c;
  --right: 86 180 233; --right-ink: #7cc4f0; --due-ink: #f2bd4b; --given-ink: #e6a3c8;
  --for: 0 104 166; --against: 164 88 0; --share: 0 116 84; --for-ink: #7cc4f0; --against-ink: #f2bd4b;
 {_tones(DARK)} }} }}
"""

RULES = """\
*, ::before, ::after { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; background: var(--bg); color: var(--fg);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans KR",
    "Noto Sans CJK KR", "Apple SD Gothic Neo", "Malgun Gothic", "NanumGothic", sans-serif }
main { max-width: var(--page); margin: 0 auto; padding: 2.5rem 1.5rem 5rem }
h1, h2, h3, h4 { line-height: 1.3; overflow-wrap: anywhere; text-wrap: balance }
h1 { font-size: 1.5rem; font-weight: 650; margin: 0; letter-spacing: -.01em }
h2 { font-size: 1.15rem; font-weight: 650; margin: 3rem 0 .75rem; padding-top: 1.25rem;
  border-top: 1px solid var(--rule) }
h3 { font-size: 1rem; font-weight: 650; margin: 1.5rem 0 .5rem }
h4 { font-size: .9rem; font-weight: 650; margin: 1rem 0 .35rem }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere }
:lang(ko) { word-break: keep-all }
a { color: var(--accent); text-underline-offset: .18em }
small, .note, .place, caption { font-size: .875rem }
.note, .place, caption { color: var(--soft) }
.place { overflow-wrap: anywhere }
.sr-only { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap }
[hidden] { display: none !important }
.contents { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: 1.25rem 0 0; font-size: .9rem }
.contents a { padding: .15rem 0 }
.headline { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem;
  margin: 1.25rem 0 1rem }
.headline b { font-size: 3.25rem; line-height: 1; font-weight: 650; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums }
.headline span { color: var(--soft) }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(6.75rem, 1fr)); gap: 1rem 1.25rem;
  margin: 1rem 0 }
.facts div { border-top: 2px solid var(--rule); padding-top: .35rem; min-width: 0 }
.facts .wide { grid-column: 1 / -1 }
.facts dt { color: var(--soft); font-size: .8125rem }
.facts dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.warning { border-left: 4px solid rgb(var(--due)); background: var(--box); padding: .6rem .9rem;
  border-radius: 0 4px 4px 0 }
.scroll { overflow-x: auto; margin: .75rem 0; max-width: 100%;
  background: linear-gradient(to left, var(--bg) 40%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--rule), transparent) right / 1rem 100% no-repeat scroll }
table { border-collapse: collapse; min-width: min(100%, 28rem); font-size: .9rem;
  font-variant-numeric: tabular-nums }
caption { text-align: left; padding-bottom: .4rem; max-width: calc(100vw - 3rem) }
th, td { padding: .35rem .75rem; text-align: right; border-bottom: 1px solid var(--rule);
  white-space: nowrap }
th:first-child, td:first-child { padding-left: 0 }
th:first-child { text-align: left }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom }
tbody th { font-weight: 600 }
tbody tr:hover > * { background-color: var(--box) }
.sticky tr > :first-child { position: sticky; left: 0; background: var(--bg); padding-right: .5rem }
tr.total > * { border-top: 2px solid var(--rule) }
mark, .tag { --tone: var(--right); --ink: var(--right-ink); color: inherit; border-radius: 3px;
  background: rgb(var(--tone) / var(--tint)) }
mark { border-bottom: 2px solid rgb(var(--tone)); border-radius: 3px 3px 0 0; padding: .1em .3em }
mark small, .tag { font-size: .75rem; font-weight: 650; color: var(--ink); white-space: nowrap }
mark small { margin-left: .4em }
.tag { display: inline-block; padding: .1em .5em; white-space: normal; overflow-wrap: anywhere }
.due { --tone: var(--due); --ink: var(--due-ink); border-bottom-style: dashed }
.given { --tone: var(--given); --ink: var(--given-ink); border-bottom-style: dotted }
.neutral { --tone: 120 132 145; --ink: var(--soft) }
.heat-cell { background: rgb(var(--tone, var(--for)) / calc(var(--a, 0) * var(--deep))) }
button, input, select, textarea { font: inherit; color: inherit }
button, select, input:not([type="checkbox"], [type="radio"], [type="range"]), textarea {
  min-height: 2.4rem; max-width: 100%; padding: .35rem .7rem; background: var(--bg);
  border: 1px solid var(--field); border-radius: 6px }
button { cursor: pointer; font-weight: 600; background: var(--box) }
button:hover { border-color: var(--fg) }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button:disabled { opacity: .55; cursor: not-allowed }
textarea { width: 100%; line-height: 1.55 }
.controls { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem 1rem; margin: 1rem 0 }
.controls label { display: grid; gap: .2rem; min-width: 0; font-size: .8125rem; color: var(--soft) }
.controls label > * { font-size: 1rem; color: var(--fg) }
summary { cursor: pointer; font-weight: 600; margin-top: .75rem; padding: .15rem 0 }
pre { background: var(--box); padding: .9rem 1.1rem; overflow-x: auto; font-size: .82rem; line-height: 1.5;
  border-radius: 6px }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px }
@media (max-width: 40rem) {
  main { padding: 1.5rem 1rem 3rem }
  .controls label { flex: 1 1 100% }
  .stack, .stack tbody, .stack caption { display: block }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .stack tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .3rem .75rem;
    padding: .75rem 0; border-bottom: 1px solid var(--rule) }
  .stack tr > * { border: 0; padding: 0; text-align: left; white-space: normal }
  .stack tbody th { grid-column: 1 / -1; overflow-wrap: anywhere }
  .stack td:empty { display: none }
  .stack td::before { content: attr(data-name); display: block; color: var(--soft); font-size: .75rem }
  .stack tr.total { border-top: 2px solid var(--rule) }
}
@media print { .scroll { overflow: visible } main { max-width: none } .controls { display: none } }
"""

STYLE = TOKENS + RULES + _classes()
