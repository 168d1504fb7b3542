// The part of a long text that is explained: some sentences around a place.

/**
 * Returns up to how many UTF-16 units texts are explained as a whole. The service explains 1000 tokens.
 * @param {{unit: string}} model
 */
export function wholeLimit({ unit }) {
  return unit === "word" || unit === "eojeol" ? 2000 : 900;
}

/**
 * Returns the text, or the part around `at` that ends at line or sentence ends.
 * @param {string} text @param {number} at @param {number} most UTF-16 units
 * @returns {{text: string, start: number, whole: boolean}}
 */
export function excerpt(text, at, most) {
  if (text.length <= most) return { text, start: 0, whole: true };
  const half = most / 2;
  const start = at <= half ? 0 : at - half + firstEnd(text.slice(at - half, at));
  const ahead = text.slice(at, at + half);
  const end = at + half >= text.length ? text.length : at + lastEnd(ahead);
  return { text: text.slice(start, end), start, whole: false };
}

/** @param {string} part @returns {number} the place after its first sentence or, failing that, word */
function firstEnd(part) {
  const found = /\n|[.!?。]\s+/u.exec(part) ?? /\s+/u.exec(part);
  return found ? found.index + found[0].length : lowSurrogate(part, 0) ? 1 : 0;
}

/** @param {string} part @returns {number} the place after its last sentence or, failing that, word */
function lastEnd(part) {
  const found = [...part.matchAll(/\n|[.!?。](?=\s)/gu)].at(-1) ?? [...part.matchAll(/\s+/gu)].at(-1);
  const end = found ? found.index + found[0].length : part.length;
  return lowSurrogate(part, end) ? end - 1 : end;
}

/** @param {string} part @param {number} at */
function lowSurrogate(part, at) {
  return /[\udc00-\udfff]/.test(part.charAt(at));
}
