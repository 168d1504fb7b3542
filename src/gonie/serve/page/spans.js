// Spans of an answer: of its own, by type, and compared with those of another.

/** @typedef {import("./types.js").Span} Span */
/** @typedef {"same" | "left" | "right" | "type"} Kind */
/** @typedef {{kind: Kind, left: Span | null, right: Span | null}} Difference */

/** Returns whether the tags of a model are plain: each token has a type. @param {import("./types.js").Model} model */
export function isPlain(model) {
  const types = new Set(model.types);
  return model.command === "tag" && model.labels.length > 0 && model.labels.every((label) => types.has(label));
}

/**
 * Returns the spans of a document, or its tokens if tags are plain.
 * @param {import("./types.js").TaggedDocument} document
 * @param {import("./types.js").Model} model
 * @returns {Span[]}
 */
export function spansOf(document, model) {
  const found = isPlain(model) ? document.tokens.map((token) => ({ ...token, label: token.tag })) : document.spans;
  return [...found].sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns the number of spans of each type, in order of type. @param {Span[]} spans @returns {[string, number][]} */
export function countTypes(spans) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { label } of spans) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Compares spans by their place: the same, only left, only right, or of another type.
 * @param {Span[]} left @param {Span[]} right
 * @returns {Difference[]} in the order of the text
 */
export function compareSpans(left, right) {
  const place = (/** @type {Span} */ span) => `${span.start}-${span.end}`;
  const others = new Map(right.map((span) => [place(span), span]));
  /** @type {Difference[]} */
  const found = left.map((span) => {
    const other = others.get(place(span)) ?? null;
    others.delete(place(span));
    const kind = !other ? "left" : other.label === span.label ? "same" : "type";
    return { kind, left: span, right: other };
  });
  for (const span of others.values()) found.push({ kind: "right", left: null, right: span });
  const start = (/** @type {Difference} */ each) => (each.left ?? each.right)?.start ?? 0;
  return found.sort((a, b) => start(a) - start(b));
}

/** Returns how many differences there are of each kind. @param {Difference[]} differences */
export function countKinds(differences) {
  const counts = { same: 0, left: 0, right: 0, type: 0 };
  for (const { kind } of differences) counts[kind] += 1;
  return counts;
}
