"""The CSS of score reports: figures, drawings and marked errors."""

STYLE = """
.shades { font-size: .82rem }
.shades td, .shades thead th + th { text-align: center; padding: .28rem .3rem; min-width: 2.5rem }
.shades td { background: rgb(var(--shade, var(--given)) / calc(var(--a, 0) * .5)) }
.shades thead th { white-space: normal }
.shades td.right { --shade: var(--right) }
.shades td.none { color: var(--soft) }
svg { display: block; width: 100%; height: auto; overflow: visible; font: 12px system-ui, sans-serif }
svg text { fill: var(--soft) }
svg .name { fill: var(--fg); font-weight: 600; font-size: 13px }
.curves { display: grid; gap: 1rem 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)) }
.grid, .axis { stroke: var(--rule) }
.line { fill: none; stroke: var(--soft); stroke-width: 2 }
.dot { fill: var(--soft) }
.line.score { stroke: rgb(var(--right)) }
.dot.score, .point { fill: rgb(var(--right)) }
.ring { fill: none; stroke: rgb(var(--due)); stroke-width: 2.5 }
.bar { display: inline-block; width: 7.5rem; max-width: 100%; height: 1rem; vertical-align: middle }
.whisker { stroke: rgb(var(--right) / .5); stroke-width: 5 }
.diagram { max-width: 30rem; margin: .75rem 0 }
.diagonal { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 5 4 }
.pair { fill: rgb(var(--right) / .45) }
.texts th, .texts td { text-align: left; vertical-align: top }
.texts td:first-child { padding-left: .2rem }
.texts td:last-child { width: 100%; white-space: normal; overflow-wrap: anywhere }
.texts p { margin: 0; max-width: none }
.column { fill: rgb(var(--right) / .6) }
.gap { fill: rgb(var(--due) / .35); stroke: rgb(var(--due)); stroke-dasharray: 3 2 }
.share { fill: var(--soft) }
.passage { padding: .7rem 0; border-bottom: 1px solid var(--rule) }
.passage p { margin: 0; max-width: none }
.reading { display: grid; grid-template-columns: 5rem 1fr; gap: .25rem .5rem; margin-top: .2rem }
.side { color: var(--soft); font-size: .8rem; padding-top: .3rem }
.text { line-height: 2.05; padding-right: .35rem; overflow-wrap: anywhere }
.text > bdi { white-space: pre-line }
.listing .controls input { width: 16rem }
.listing .controls select { min-width: 9rem }
.passage .strip { margin-top: .35rem }
.items { border-top: 1px solid var(--rule) }
.more { margin-top: 1rem }
.legend { max-width: none; line-height: 2 }
@media (max-width: 40rem) { .reading { grid-template-columns: 1fr; gap: 0 }
  .listing .controls input, .listing .controls select { width: 100% } }
"""
