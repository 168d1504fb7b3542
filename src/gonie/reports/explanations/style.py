"""The CSS of explanation pages: heat maps, bars and the transition table.

Blue supports a prediction and orange opposes it, a pair that colour-blind readers can distinguish. Attention
is green, which is used for nothing else. A test measures the contrast of each tone with the text on it.
"""

STYLE = """
:root { --for: 0 114 178; --against: 224 130 0; --share: 0 158 115; --deep: .62;
  --for-line: #005f96; --against-line: #8a4f00 }
@media (prefers-color-scheme: dark) { :root { --for: 0 104 166; --against: 164 88 0; --share: 0 116 84;
  --deep: .85; --for-line: #7cc4f0; --against-line: #f2bd4b } }
body { max-width: 84rem }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
h4 { font-size: .9rem; margin: 0 0 .3rem; font-weight: 650; overflow-wrap: anywhere }
h4 span { color: var(--soft); font-weight: 400 }
.honest { max-width: 60rem }
.honest b { font-weight: 650 }
.faith th { white-space: normal }
.faith thead th, .faith small { font-size: .8rem }
.faith small { display: block; color: var(--soft); font-weight: 400 }
.control > * { color: var(--soft); font-weight: 400 }
.best > * { font-weight: 650 }
.explained { margin: 2rem 0; padding-top: 1rem; border-top: 1px solid var(--rule) }
.strips { display: grid; gap: 1rem 2rem; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)) }
.strip { min-width: 0 }
.heat { position: relative; line-height: 1.95; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4 }
.heat p { margin: 0; max-width: 60rem }
.heat:lang(ko) { word-break: keep-all }
.w { --tone: var(--for); border-radius: 3px; padding: .1em 0; cursor: default;
  background: rgb(var(--tone) / calc(var(--a, 0) * var(--deep))) }
.sides .line { text-decoration: underline 2px solid var(--for-line); text-underline-offset: .22em }
.sides .against { --tone: var(--against) }
.sides .against.line { text-decoration: underline 2px dotted var(--against-line) }
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
  background: linear-gradient(90deg, rgb(var(--tone) / var(--deep)) calc(100% * var(--p)), transparent 0) }
.share .weight { --tone: var(--share) }
.sides .weight { --tone: var(--for) }
.sides .weight.against { --tone: var(--against); border-style: dotted; border-color: var(--against-line) }
.bars { display: grid; grid-template-columns: fit-content(55%) minmax(3rem, 1fr) max-content;
  max-width: 34rem; gap: .3rem .8rem; margin: .6rem 0; align-items: center }
.bars dt { overflow-wrap: anywhere }
.bars dd { margin: 0; font-variant-numeric: tabular-nums }
.bars .line { height: .8rem; background: var(--box); border: 1px solid var(--rule) }
.bars .line span { display: block; height: 100%; width: calc(100% * var(--p)); background: rgb(var(--for)) }
.bars .given { font-weight: 650 }
.strongest td { text-align: left }
.strongest td span { color: var(--soft); margin-left: .4em }
.key .w { padding: .1em .3em; color: var(--fg) }
.key { line-height: 2; max-width: none }
.tagged { line-height: 2.3; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 60rem }
.tagged:lang(ko) { word-break: keep-all }
.tagged small { white-space: nowrap }
.explained section h3 { margin-top: 1.4rem }
.marginals td, .marginals th, .candidates td, .candidates th { text-align: left }
.marginals details { display: inline-block }
.marginals summary { margin: 0; font-weight: 400; color: var(--soft) }
.candidates td { white-space: normal; min-width: 14rem }
.moves td { text-align: center; padding: .28rem .35rem; min-width: 3rem;
  background: rgb(var(--tone, var(--for)) / calc(var(--a, 0) * var(--deep))) }
.moves thead th + th { text-align: center; padding: .28rem .35rem }
.moves .against { --tone: var(--against) }
.moves .never { color: var(--soft) }
@media (max-width: 34rem) { .sentence { grid-template-columns: 3.6rem minmax(0, 1fr); gap: .4rem } }
"""
