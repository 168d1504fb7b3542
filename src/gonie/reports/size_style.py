"""The CSS of the page of scores by training size: the answer and the chart."""

SIZE_STYLE = """
.answer { font-size: 1.15rem; line-height: 1.5; max-width: 52rem; margin: 1rem 0 1.5rem }
.warning { white-space: pre-line }
.sizes { margin: 1rem 0; min-width: 36rem; max-width: 60rem }
.sizes .curve { fill: none; stroke: var(--ink); stroke-width: 2.2 }
.sizes .constant { stroke-dasharray: 7 5 }
.sizes .spread { fill: rgb(var(--tone) / .16) }
.sizes .mark { fill: var(--ink) }
.sizes text.model { fill: var(--ink); font-weight: 600; font-size: 13px }
.sizes .leader { stroke: var(--ink); stroke-width: 1; opacity: .5 }
"""
