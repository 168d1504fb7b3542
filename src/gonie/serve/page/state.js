// What the reader has chosen and typed, and its form in the fragment of the address.

/** Texts with more UTF-16 units are left out of the address. */
export const LINK_LIMIT = 4000;

/**
 * @typedef {object} State
 * @property {string} model
 * @property {string} other name of the model to compare with, or ""
 * @property {string[]} texts one text, or two for models of pairs
 * @property {"viterbi" | "posterior"} decode
 * @property {Record<string, number>} bias
 */

/** @returns {State} */
export function emptyState() {
  return { model: "", other: "", texts: ["", ""], decode: "viterbi", bias: {} };
}

/** Returns the fragment without `#`. @param {State} state @param {number} texts number of texts of the model */
export function toFragment(state, texts) {
  const fields = new URLSearchParams();
  if (state.model) fields.set("model", state.model);
  if (state.other) fields.set("compare", state.other);
  if (state.decode !== "viterbi") fields.set("decode", state.decode);
  for (const [type, value] of Object.entries(state.bias)) if (value) fields.append("bias", `${type}=${value}`);
  const used = state.texts.slice(0, texts);
  if (fits(used)) for (const text of used) fields.append("text", text);
  return fields.toString();
}

/** Returns whether texts fit into a link. @param {string[]} texts */
export function fits(texts) {
  return texts.reduce((sum, text) => sum + text.length, 0) <= LINK_LIMIT;
}

/** Reads a fragment. Whatever is not valid is left out. @param {string} hash @returns {State} */
export function fromFragment(hash) {
  const state = emptyState();
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  state.model = fields.get("model") ?? "";
  state.other = fields.get("compare") ?? "";
  state.decode = fields.get("decode") === "posterior" ? "posterior" : "viterbi";
  const texts = fields.getAll("text").slice(0, 2);
  if (fits(texts)) texts.forEach((text, at) => { state.texts[at] = text; });
  for (const entry of fields.getAll("bias").slice(0, 500)) {
    const [type, value] = splitLast(entry);
    if (type && Number.isFinite(value)) state.bias[type] = Math.min(4, Math.max(-4, value));
  }
  return state;
}

/** @param {string} entry @returns {[string, number]} */
function splitLast(entry) {
  const at = entry.lastIndexOf("=");
  return at < 1 ? ["", NaN] : [entry.slice(0, at), Number(entry.slice(at + 1) || NaN)];
}
