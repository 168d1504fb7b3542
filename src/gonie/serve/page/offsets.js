// Offsets of an answer in code points, as the service counts unless it is asked for UTF-16.

/** @typedef {{start: number, end: number}} Place */

/**
 * Returns the answer with code points in place of UTF-16 units. Answers without documents have no offsets.
 * @param {any} answer
 */
export function inCodePoints(answer) {
  if (!answer.documents) return answer;
  return { ...answer, documents: answer.documents.map(converted) };
}

/** @param {import("./types.js").TaggedDocument} document */
function converted(document) {
  const before = counts(document.text);
  const move = (/** @type {Place} */ each) => ({ ...each, start: before[each.start], end: before[each.end] });
  return { ...document, spans: document.spans.map(move), tokens: document.tokens.map(move) };
}

/** Returns the number of code points before each UTF-16 unit, and before the end. @param {string} text */
function counts(text) {
  const found = new Uint32Array(text.length + 1);
  let units = 0;
  let points = 0;
  for (const character of text) {
    units += character.length;
    points += 1;
    found[units] = points;
  }
  return found;
}
