// A piece of the text that the reader asks about: where it is, and how the service is asked about it.

/** @typedef {import("./types.js").Piece} Piece */
/** @typedef {{start: number, end: number}} Place */

/**
 * Returns the piece at its place in the text, or where the text has it nearest to that.
 * @param {Piece} piece @param {string} text @param {number} place where the reader last was
 * @returns {Piece | null}
 */
export function placed(piece, text, place) {
  if (piece.start >= 0 && text.slice(piece.start, piece.end) === piece.text) return piece;
  const near = piece.start >= 0 ? piece.start : place;
  const before = text.lastIndexOf(piece.text, near);
  const after = text.indexOf(piece.text, near);
  if (before < 0 && after < 0) return null;
  const start = before < 0 || (after >= 0 && after - near < near - before) ? after : before;
  return { ...piece, start, end: start + piece.text.length };
}

/**
 * Returns the piece widened to whole tokens.
 * @param {Piece} piece @param {string} text @param {Place[]} tokens
 * @returns {Piece}
 */
export function widened(piece, text, tokens) {
  const touched = tokens.filter(({ start, end }) => start < piece.end && end > piece.start);
  if (!touched.length) return piece;
  const [start, end] = [touched[0].start, touched[touched.length - 1].end];
  return { ...piece, start, end, text: text.slice(start, end) };
}

/**
 * Returns the question for the service: TEXT=TYPE, TEXT for any type, TEXT#2 for the second occurrence.
 * @param {Piece} piece of whole tokens
 * @param {{text: string, start: number}} part the part of the text that is sent
 * @param {Place[]} tokens of the whole text
 */
export function question(piece, part, tokens) {
  const starts = new Set(tokens.map(({ start }) => start));
  const ends = new Set(tokens.map(({ end }) => end));
  let number = 0;
  for (let at = part.text.indexOf(piece.text); at >= 0; at = part.text.indexOf(piece.text, at + piece.text.length)) {
    const start = at + part.start;
    if (start > piece.start) break;
    if (starts.has(start) && ends.has(start + piece.text.length)) number += 1;
  }
  return `${piece.text}${number > 1 ? `#${number}` : ""}${piece.label ? `=${piece.label}` : ""}`;
}
