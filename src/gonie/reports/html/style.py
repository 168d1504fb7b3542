"""The common style sheet of every page: plain type, few colours, light and dark mode.

The colours are from the palette of Okabe & Ito, which colour-blind readers can distinguish, darkened or
lightened where small text needs more contrast. No scripts, fonts or images are loaded.
"""

STYLE = """
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1f24; --soft: #59636e; --rule: #d8dde3; --box: #f6f8fa;
  --right: 0 114 178; --due: 230 159 0; --given: 204 121 167;
  --right-ink: #005f96; --due-ink: #7d5200; --given-ink: #8f3a6b }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --fg: #e6e9ed; --soft: #9aa5b1; --rule: #30363d;
  --box: #1c2128; --right: 86 180 233; --right-ink: #7cc4f0; --due-ink: #f2bd4b; --given-ink: #e6a3c8 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; background: var(--bg); color: var(--fg);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans KR",
    "Noto Sans CJK KR", "Apple SD Gothic Neo", "Malgun Gothic", sans-serif }
h1 { font-size: 1.35rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--rule) }
p { margin: .4rem 0; max-width: 46rem }
.note, .place, caption { color: var(--soft); font-size: .875rem }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(6.2rem, 1fr)); gap: .75rem 1rem }
.facts div { border-top: 2px solid var(--rule); padding-top: .3rem }
.facts dt { color: var(--soft); font-size: .8rem }
.facts dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.scroll { overflow-x: auto; margin: .75rem 0 }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }
caption { text-align: left; padding-bottom: .35rem; max-width: calc(100vw - 2.5rem) }
th, td { padding: .28rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }
th:first-child { text-align: left; padding-left: .2rem }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom }
tbody th { font-weight: 600 }
mark { color: inherit; background: rgb(var(--tone) / .18); border-bottom: 2px solid rgb(var(--tone));
  border-radius: 3px 3px 0 0; padding: .08em .25em }
mark small { margin-left: .4em; font-size: .75em; font-weight: 650; color: var(--ink); white-space: nowrap }
mark.right { --tone: var(--right); --ink: var(--right-ink) }
.warning { border-left: 4px solid rgb(var(--due)); background: var(--box); padding: .5rem .8rem }
summary { cursor: pointer; font-weight: 600; margin-top: .75rem }
pre { background: var(--box); padding: .8rem 1rem; overflow-x: auto; font-size: .82rem; line-height: 1.45 }
:focus-visible { outline: 2px solid rgb(var(--right)); outline-offset: 2px }
@media (max-width: 34rem) { body { padding-top: 1.25rem } }
@media print { .scroll { overflow: visible } body { max-width: none } }
"""
