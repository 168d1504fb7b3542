// Offsets in code points, which /v1/explain gives, as offsets of JavaScript strings.

/** Returns a function from code point offsets of a text to UTF-16 offsets. @param {string} text */
export function utf16(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (/** @type {number} */ offset) => offset;
  /** @type {number[]} */
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return (/** @type {number} */ offset) => starts[Math.min(offset, starts.length - 1)];
}
