// The labels of a classified text, with a bar each.
import { bar, el } from "./dom.js";
import { probability, say } from "./language.js";

const SHOWN = 8;

/**
 * Returns the prediction and the probabilities of all labels.
 * @param {import("./types.js").Classified} result
 */
export function labelBars(result) {
  if (typeof result.value === "number") return valueLine(result.value);
  const rows = Object.entries(result.scores ?? {}).sort(([, a], [, b]) => b - a);
  const given = new Set(result.labels ?? [result.label]);
  const made = el("div", { class: "labels" }, headline(result));
  made.append(list(rows.slice(0, SHOWN), given));
  if (rows.length > SHOWN) {
    const more = say("labels.more", { n: rows.length - SHOWN });
    made.append(el("details", {}, el("summary", { text: more }), list(rows.slice(SHOWN), given)));
  }
  return made;
}

/** @param {import("./types.js").Classified} result */
function headline(result) {
  const names = result.labels ? result.labels.join(", ") || say("result.labels.none") : result.label ?? "";
  const line = el("p", { class: "headline answer" }, el("b", {}, el("bdi", { text: names })));
  if (!result.labels) line.append(el("span", { text: probability(result.score) }));
  return line;
}

/** @param {number} value */
function valueLine(value) {
  return el("p", { class: "headline answer" }, el("b", { text: value.toFixed(2) }));
}

/** @param {[string, number][]} rows @param {Set<string | undefined>} given */
function list(rows, given) {
  const items = rows.map(([label, score]) =>
    el("li", { class: given.has(label) ? "given-label" : null },
      el("bdi", { class: "name", text: label }), bar(score), el("span", { class: "number", text: probability(score) })));
  return el("ol", { class: "bars", "aria-label": say("labels.all") }, ...items);
}

/** Returns the prediction in one sentence. @param {import("./types.js").Classified} result */
export function labelSummary(result) {
  if (typeof result.value === "number") return say("result.value", { value: result.value.toFixed(2) });
  if (result.labels) return say("result.labels", { labels: result.labels.join(", ") || say("result.labels.none") });
  return say("result.label", { label: result.label ?? "", score: probability(result.score) });
}
