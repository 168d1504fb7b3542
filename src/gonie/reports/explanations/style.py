"""The CSS of explanation pages: heat maps, bars and the transition table.

Blue supports a prediction and orange opposes it, a pair that colour-blind readers can distinguish. Attention
is green. The tones are in the common style sheet, and a test measures their contrast with the text on them.
"""

STYLE = """
.strip h3 { font-size: .9rem; margin: 0 0 .3rem }
.strip h3 span { color: var(--soft); font-weight: 400 }
.faith th { white-space: normal }
.faith thead th, .faith small { font-size: .8rem }
.faith small { display: block; color: var(--soft); font-weight: 400 }
.control > * { color: var(--soft); font-weight: 400 }
.best > * { font-weight: 650 }
.explained { margin: 1.5rem 0 0; padding: 0 0 1.5rem }
.explained + .explained, .reading-help + .explained { padding-top: 1.5rem; border-top: 1px solid var(--rule) }
.explained > h2 { border: 0; margin: 0 0 .5rem; padding: 0; font-size: 1.35rem }
.explained > h2 .place { font-weight: 400; margin-left: .4em }
.verdict { display: block; font-size: 1rem; font-weight: 400; color: var(--soft) }
.asked { margin-bottom: 1.5rem }
.asked h2 { font-size: 1.2rem; margin: 0 0 .5rem; padding: 0; border: 0; max-width: 46rem }
.asked p { margin: .25rem 0 }
.explained h2.span { font-size: 1rem; margin: 1.5rem 0 .5rem; padding: 0; border: 0 }
.reading-help { margin: 0 0 1.5rem; padding: .75rem 1rem; background: var(--box); border-radius: 6px }
.reading-help > p { margin: 0; max-width: none }
.reading-help summary { margin: .25rem 0 0 }
.strips { display: grid; gap: 1rem 2rem; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)) }
.strip { min-width: 0 }
.heat { position: relative; line-height: 1.95; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4 }
.heat p { margin: 0; max-width: 60rem }
.heat:lang(ko) { word-break: keep-all }
.w { --tone: var(--for); border-radius: 3px; padding: .1em 0; cursor: default;
  background: rgb(var(--tone) / calc(var(--a, 0) * var(--deep))) }
.sides .line { text-decoration: underline 2px solid var(--for-ink); text-underline-offset: .22em }
.sides .against { --tone: var(--against) }
.sides .against.line { text-decoration: underline 2px dotted var(--against-ink) }
.share .w { --tone: var(--share) }
.w.mark { border: 1px solid var(--soft); padding: 0 .2em; margin: 0 .15em; font-size: .8em }
.w.in { outline: 1px dashed var(--fg); outline-offset: 1px }
.w i { display: none; position: absolute; left: 0; margin-top: 2em; z-index: 1; width: max-content;
  max-width: 100%; background: var(--fg); color: var(--bg); border-radius: 4px; padding: .15rem .5rem;
  font: 14px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums; white-space: normal;
  direction: ltr; unicode-bidi: isolate; pointer-events: none }
.w:hover i, .w:focus i { display: block }
.w:hover, .w:focus { outline: 2px solid var(--fg); outline-offset: 1px }
.sentence { display: grid; grid-template-columns: 4.2rem minmax(0, 1fr); gap: .6rem; margin-bottom: .3rem }
.weight { align-self: start; margin-top: .35rem; font-size: .8rem; line-height: 1.5; padding: .05rem .2rem;
  white-space: nowrap; border: 1px solid var(--rule); font-variant-numeric: tabular-nums; text-align: right;
  direction: ltr;
  background: linear-gradient(90deg, rgb(var(--tone) / var(--deep)) calc(100% * var(--a, 0)), transparent 0) }
.share .weight { --tone: var(--share) }
.sides .weight { --tone: var(--for) }
.sides .weight.against { --tone: var(--against); border-style: dotted; border-color: var(--against-ink) }
.bars { display: grid; grid-template-columns: fit-content(55%) minmax(3rem, 1fr) max-content;
  max-width: 34rem; gap: .3rem .8rem; margin: .6rem 0; align-items: center }
.bars dt { overflow-wrap: anywhere }
.bars dd { margin: 0; font-variant-numeric: tabular-nums }
.bars .line { height: .7rem; background: var(--box); border: 1px solid var(--rule); border-radius: 2px;
  overflow: hidden }
.bars .line svg { display: block; width: 100%; height: 100%; fill: rgb(var(--for)) }
.bars .chosen { font-weight: 650 }
.strongest td, .strongest th { text-align: left }
.strongest td span { color: var(--soft); margin-left: .4em }
.key .w { padding: .1em .3em; color: var(--fg) }
.key { line-height: 2; max-width: none }
.tagged { font-size: 1.15rem; line-height: 2.2; white-space: pre-wrap; overflow-wrap: anywhere;
  max-width: 60rem; margin: 0 0 .5rem }
.tagged:lang(ko) { word-break: keep-all }
.tagged small { white-space: nowrap }
.marginals td, .marginals th, .candidates td, .candidates th { text-align: left }
.marginals details { display: inline-block }
.marginals summary { margin: 0; font-weight: 400; color: var(--soft) }
.candidates td { white-space: normal; min-width: 14rem }
.moves td { text-align: center; padding: .28rem .35rem; min-width: 3rem }
.moves thead th + th { text-align: center; padding: .28rem .35rem }
.moves .against { --tone: var(--against) }
.moves .never { color: var(--soft) }
@media (max-width: 40rem) { .candidates td { min-width: 0 } 
  .candidates td:last-child, .marginals td:last-child { grid-column: 2 / -1 }
  .sentence { grid-template-columns: 3.6rem minmax(0, 1fr); gap: .4rem } }
"""
