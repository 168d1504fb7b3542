// The most probable tag sequences of a sentence.
import { bar, el } from "./dom.js";
import { probability, say } from "./language.js";
import { marked } from "./marks.js";
import { isPlain } from "./spans.js";

/**
 * @param {import("./sentence.js").SentenceDetails} details
 * @param {import("./types.js").Context} context
 * @returns {Node[]}
 */
export function nbestView(details, context) {
  const rows = details.candidates.map((candidate, at) => {
    const text = el("div", { class: "marked", dir: "auto" }, marked(details.text, spansOf(candidate, details, context), context));
    const score = el("div", { class: "score" }, el("span", { class: "sr-only", text: say("nbest.score") }), bar(candidate.score), el("span", { class: "number", text: probability(candidate.score) }));
    return el("li", { "aria-label": say("nbest.sequence", { n: at + 1 }) }, score, text);
  });
  return [el("p", { class: "note", text: say("nbest.hint") }), el("ol", { class: "nbest" }, ...rows)];
}

/** @param {import("./types.js").Candidate} candidate @param {import("./sentence.js").SentenceDetails} details @param {import("./types.js").Context} context */
function spansOf(candidate, details, context) {
  if (!isPlain(context.model)) return candidate.spans;
  return details.tokens.map(({ start, end, text }, at) => ({ start, end, text, label: candidate.tags[at] }));
}
