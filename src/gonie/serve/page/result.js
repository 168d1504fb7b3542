// The answers of one model, or of two side by side with their differences.
import { el, quoted } from "./dom.js";
import { labelBars, labelSummary } from "./labels.js";
import { probability, say } from "./language.js";
import { marked } from "./marks.js";
import { compareSpans, countKinds, countTypes, isPlain, spansOf } from "./spans.js";

/** @typedef {import("./types.js").Context} Context */
/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Span} Span */

/**
 * Draws the answers, and returns the spans that can be chosen.
 * @param {{left: HTMLElement, right: HTMLElement, types: HTMLElement, notes: HTMLElement, differences: HTMLElement}} places
 * @param {Context} context
 * @returns {Span[]}
 */
export function drawResult(places, context) {
  const { found, model, other } = context;
  if (!found) return [];
  const draw = model.command === "tag" ? drawTags : drawLabels;
  notes(places.notes, found.main);
  return draw(places, context, found, other);
}

/** @param {any} places @param {Context} context @param {import("./types.js").Found} found @param {Model | null} other */
function drawTags(places, context, found, other) {
  const [text] = found.texts;
  const left = spansOf(found.main.documents[0], context.model);
  const right = other && found.other ? spansOf(found.other.documents[0], other) : null;
  const differences = right ? compareSpans(left, right) : [];
  const drawing = (/** @type {"left" | "right"} */ side) => ({
    classes: context.classes, actions: side === "left", difference: differenceOf(differences, side),
  });
  places.left.replaceChildren(marked(text, left, drawing("left")));
  places.right.replaceChildren(right ? marked(text, right, drawing("right")) : "");
  places.types.replaceChildren(...typeCounts(left, context));
  places.differences.replaceChildren(...(right ? differenceTable(differences, context) : []));
  return left;
}

/** @param {import("./spans.js").Difference[]} differences @param {"left" | "right"} side @returns {(span: Span) => "" | "only" | "other"} */
function differenceOf(differences, side) {
  /** @type {Map<Span, "only" | "other">} */
  const kinds = new Map();
  for (const each of differences) {
    const span = each[side];
    if (span && each.kind !== "same") kinds.set(span, each.kind === "type" ? "other" : "only");
  }
  return (span) => kinds.get(span) ?? "";
}

/** @param {Span[]} spans @param {Context} context */
function typeCounts(spans, context) {
  return countTypes(spans).map(([label, n]) =>
    el("li", {}, el("span", { class: `tag ${context.classes.get(label) ?? ""}` }, el("bdi", { text: label }), ` ${n}`)));
}

/** @param {import("./spans.js").Difference[]} differences @param {Context} context @returns {Node[]} */
function differenceTable(differences, context) {
  const unequal = differences.filter(({ kind }) => kind !== "same");
  const line = el("p", { class: "difference-line", text: differenceSummary(differences, context) });
  if (!unequal.length) return [line];
  const head = [say("diff.piece"), context.model.name, context.other?.name ?? ""].map((text) => el("th", { scope: "col", text }));
  const rows = unequal.slice(0, 100).map(({ left, right }) =>
    el("tr", {}, el("th", { scope: "row" }, quoted((left ?? right)?.text ?? "")), side(left, context), side(right, context)));
  const table = el("table", { class: "differences" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  return [line, el("div", { class: "scroll" }, table)];
}

/** @param {Span | null} span @param {Context} context */
function side(span, context) {
  if (!span) return el("td", { class: "note", text: say("diff.nothing") });
  return el("td", {}, el("span", { class: `tag ${context.classes.get(span.label) ?? ""}`, text: `${span.label} ${probability(span.score)}` }));
}

/** @param {import("./spans.js").Difference[]} differences @param {Context} context */
function differenceSummary(differences, context) {
  const counts = countKinds(differences);
  if (!counts.left && !counts.right && !counts.type) return say("diff.same");
  return say("diff.counts", { ...counts, first: context.model.name, second: context.other?.name ?? "" });
}

/** @param {any} places @param {Context} context @param {import("./types.js").Found} found @param {Model | null} other @returns {Span[]} */
function drawLabels(places, context, found, other) {
  const left = found.main.results[0];
  const right = other && found.other ? found.other.results[0] : null;
  places.left.replaceChildren(labelBars(left));
  places.right.replaceChildren(right ? labelBars(right) : "");
  places.types.replaceChildren();
  places.differences.replaceChildren(...(right ? [el("p", { class: "difference-line", text: labelDifference(left, right, context) })] : []));
  return [];
}

/** @param {any} left @param {any} right @param {Context} context */
function labelDifference(left, right, context) {
  const name = (/** @type {any} */ each) => (each.labels ? each.labels.join(", ") : each.label ?? Number(each.value).toFixed(2));
  if (name(left) === name(right)) return say("diff.label.same", { label: name(left) });
  return say("diff.label.other", { first: context.model.name, left: name(left), second: context.other?.name ?? "", right: name(right) });
}

/** @param {HTMLElement} place @param {any} answer */
function notes(place, answer) {
  const found = (answer.documents ?? answer.results)[0].notes ?? [];
  place.textContent = found.length ? say("result.notes", { notes: found.join("; ") }) : "";
  place.hidden = !found.length;
}

/** Returns the answer in one sentence, to be read aloud. @param {Context} context @param {Span[]} spans */
export function summary(context, spans) {
  if (!context.found) return "";
  if (context.model.command !== "tag") return labelSummary(context.found.main.results[0]);
  if (!spans.length) return say("result.none");
  const types = countTypes(spans).map(([type, n]) => say("result.type", { n, type })).join(", ");
  return say(isPlain(context.model) ? "result.tags" : "result.spans", { n: spans.length, types });
}
