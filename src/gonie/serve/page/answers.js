// The answers to what was typed: of the model, with default settings, and of the model to compare with.

/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Found} Found */
/** @typedef {import("./state.js").State} State */

export class Answers {
  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.api = api;
    /** The answer with default settings, which stays the same while only sliders move. */
    this.base = { key: "", answer: /** @type {any} */ (null) };
  }

  /**
   * Asks for all answers, one request after the other.
   * @param {{state: State, model: Model, other: Model | null}} context
   * @param {string[]} texts
   * @param {import("./api.js").Options} options
   * @returns {Promise<Found>}
   */
  async ask({ state, model, other }, texts, options) {
    const path = `/v1/${model.command}`;
    const plain = bodyOf(model, texts);
    const body = { ...plain, ...settingsOf(model, state) };
    const main = await this.api.post(path, body, options);
    const key = JSON.stringify(plain);
    if (JSON.stringify(body) === key) this.base = { key, answer: main };
    else if (this.base.key !== key) this.base = { key, answer: await this.api.post(path, plain, options) };
    const second = other && await this.api.post(path, bodyOf(other, texts), options);
    options.signal?.throwIfAborted();
    return { texts, path, body, main, base: this.base.answer, other: second };
  }
}

/** @param {Model} model @param {string[]} texts */
function bodyOf(model, texts) {
  const given = model.texts > 1 ? { pairs: [texts] } : { texts };
  return { model: model.name, ...given, ...(model.command === "tag" ? { offsets: "utf16" } : {}) };
}

/** @param {Model} model @param {State} state */
function settingsOf(model, { decode, bias }) {
  if (model.command !== "tag") return {};
  const set = Object.entries(bias).filter(([, value]) => value);
  return {
    ...(decode === "viterbi" ? {} : { decode }),
    ...(set.length ? { bias: Object.fromEntries(set) } : {}),
  };
}
