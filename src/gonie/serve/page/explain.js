// Explanations from /v1/explain. The last ones are kept.

/** @typedef {import("./types.js").Explanation} Explanation */

const KEPT = 30;

export class Explainer {
  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.api = api;
    /** @type {Map<string, Explanation>} */
    this.kept = new Map();
  }

  /** Explains one text or pair. @param {object} body @param {AbortSignal} signal @returns {Promise<Explanation>} */
  async ask(body, signal) {
    const key = JSON.stringify(body);
    const kept = this.kept.get(key);
    if (kept) return kept;
    const answer = await this.api.post("/v1/explain", { ...body, offsets: "utf16" }, { signal, cancel: true });
    const [found] = answer.explanations;
    if (this.kept.size >= KEPT) this.kept.delete(this.kept.keys().next().value ?? "");
    this.kept.set(key, found);
    return found;
  }
}
