// Explanations from /v1/explain, the last ones kept, with offsets of JavaScript strings.
import { utf16 } from "./utf16.js";

const KEPT = 30;

export class Explainer {
  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.api = api;
    /** @type {Map<string, import("./types.js").Explanation>} */
    this.kept = new Map();
  }

  /**
   * Explains one text or pair.
   * @param {object} body @param {AbortSignal} signal
   * @returns {Promise<import("./types.js").Explanation>}
   */
  async ask(body, signal) {
    const key = JSON.stringify(body);
    const kept = this.kept.get(key);
    if (kept) return kept;
    const answer = await this.api.post("/v1/explain", body, { signal, cancel: true });
    const found = inUtf16(answer.explanations[0], body);
    if (this.kept.size >= KEPT) this.kept.delete(this.kept.keys().next().value ?? "");
    this.kept.set(key, found);
    return found;
  }
}

/** @param {any} explanation @param {any} body */
function inUtf16(explanation, body) {
  const places = (body.pairs?.[0] ?? body.texts).map(utf16);
  const move = (/** @type {any} */ each) => {
    if (typeof each.start !== "number") return each;
    const place = places[each.part ?? 0];
    return { ...each, start: place(each.start), end: place(each.end) };
  };
  return {
    ...explanation,
    tokens: (explanation.tokens ?? []).map(move),
    answers: (explanation.answers ?? []).map(move),
    nbest: (explanation.nbest ?? []).map((/** @type {any[]} */ own) =>
      own.map((each) => ({ ...each, spans: (each.spans ?? []).map(move) }))),
  };
}
