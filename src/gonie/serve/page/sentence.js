// One sentence of the text with its marginals and tag sequences, and buttons to the others.
import { el } from "./dom.js";
import { excerpt, wholeLimit } from "./excerpt.js";
import { say } from "./language.js";

/** @typedef {import("./types.js").Context} Context */
/** @typedef {import("./types.js").Token} Token */

/**
 * @typedef {object} SentenceDetails
 * @property {string} text @property {Token[]} tokens with offsets in `text`
 * @property {import("./types.js").Candidate[]} candidates with offsets in `text`
 */

/** The sentence that tokens and alternatives show. */
export class Sentences {
  constructor() {
    this.text = "";
    this.place = -1;
    this.number = 0;
  }

  /**
   * Draws the sentence with buttons to its neighbours.
   * @param {HTMLElement} element @param {Context} context @param {AbortSignal} signal
   * @param {(details: SentenceDetails) => Node[]} body
   */
  async draw(element, context, signal, body) {
    const text = context.found?.texts[0] ?? "";
    if (!text.trim()) return element.replaceChildren(el("p", { class: "note", text: say("sentence.none") }));
    const part = excerpt(text, context.place, wholeLimit(context.model));
    const asked = { model: context.model.name, texts: [part.text], methods: ["marginals", "nbest"], nbest: 5 };
    const found = await context.explain(asked, signal);
    signal.throwIfAborted();
    this.#follow(found, part, context);
    if (!found.sentences.length) return element.replaceChildren(el("p", { class: "note", text: say("sentence.none") }));
    const again = () => this.draw(element, context, signal, body);
    const stepper = this.#stepper(found.sentences.length, again);
    element.replaceChildren(...(part.whole ? [] : [el("p", { class: "note", text: say("sentence.part") })]),
      ...(stepper ? [stepper] : []), ...body(detailsOf(found, part.text, this.number)));
  }

  /** Goes to the sentence at the place of the reader, if that or the text has changed. @param {any} found @param {{text: string, start: number}} part @param {Context} context */
  #follow(found, part, context) {
    if (this.text === part.text && this.place === context.place) return;
    const moved = this.place !== context.place;
    this.text = part.text;
    this.place = context.place;
    const at = context.place - part.start;
    const here = found.sentences.findIndex((/** @type {[number, number]} */ [, to]) => found.tokens[to - 1]?.end > at);
    const last = Math.max(0, found.sentences.length - 1);
    this.number = moved ? (here < 0 ? last : here) : Math.min(this.number, last);
  }

  /** @param {number} all @param {() => void} again */
  #stepper(all, again) {
    if (all < 2) return null;
    const step = (/** @type {number} */ by, /** @type {string} */ key, /** @type {string} */ sign) => {
      const button = el("button", { type: "button", "aria-label": say(key), "data-step": String(by), text: sign });
      button.disabled = this.number + by < 0 || this.number + by >= all;
      button.addEventListener("click", async () => {
        const box = button.closest("[role=tabpanel]");
        this.number += by;
        await again();
        const next = box?.querySelector(`[data-step="${by}"]:not(:disabled)`) ?? box?.querySelector("[data-step]:not(:disabled)");
        /** @type {HTMLElement | null} */ (next ?? null)?.focus();
      });
      return button;
    };
    return el("div", { class: "stepper" }, step(-1, "sentence.previous", "←"),
      el("span", { text: say("sentence", { n: this.number + 1, all }) }), step(1, "sentence.next", "→"));
  }
}

/** @param {import("./types.js").Explanation} found @param {string} text @param {number} number @returns {SentenceDetails} */
function detailsOf(found, text, number) {
  const [from, to] = found.sentences[number];
  const own = found.tokens.slice(from, to);
  const start = own[0]?.start ?? 0;
  const end = own[own.length - 1]?.end ?? start;
  const move = (/** @type {any} */ each) => ({ ...each, start: each.start - start, end: each.end - start });
  const candidates = (found.nbest?.[number] ?? []).map((each) => ({ ...each, spans: each.spans.map(move) }));
  return { text: text.slice(start, end), tokens: own.map(move), candidates };
}
