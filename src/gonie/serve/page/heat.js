// A text with the weight of each word as its background, and lists of the strongest words.
import { el } from "./dom.js";
import { say } from "./language.js";

/** @typedef {{start: number, end: number, text: string}} Word */

/** The number of words listed for and against a label. */
const SHOWN = 5;

/**
 * Returns the text with each token shaded: blue for positive weights, orange for negative ones.
 * @param {string} text @param {Word[]} tokens @param {number[]} weights
 * @param {{share?: boolean, piece?: {start: number, end: number} | null, most?: number}} [options]
 */
export function heatMap(text, tokens, weights, options = {}) {
  const most = options.most || largest(weights);
  const made = el("p", { class: options.share ? "heat shares" : "heat", dir: "auto" });
  let at = 0;
  tokens.forEach((token, number) => {
    if (token.start < at) return;
    const chosen = options.piece && token.start >= options.piece.start && token.end <= options.piece.end;
    const step = Math.round((10 * weights[number]) / most);
    const shade = step < 0 ? `n${-step} against` : `h${step}`;
    const shown = el("span", { class: `w heat-cell ${shade}${chosen ? " chosen" : ""}`, title: signed(weights[number]) });
    shown.textContent = text.slice(token.start, token.end);
    made.append(text.slice(at, token.start), shown);
    at = token.end;
  });
  made.append(text.slice(at));
  return made;
}

/** Returns the largest absolute weight, or 1. @param {number[]} weights */
export function largest(weights) {
  return weights.reduce((most, weight) => Math.max(most, Math.abs(weight) || 0), 0) || 1;
}

/**
 * Returns the strongest words for and against a label.
 * @param {Word[]} tokens @param {number[]} weights @param {string} label
 */
export function strongestWords(tokens, weights, label) {
  const ranked = tokens.map((token, at) => ({ text: token.text, weight: weights[at] }));
  ranked.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const side = (/** @type {string} */ key, /** @type {number} */ sign) => {
    const all = ranked.filter(({ weight }) => weight * sign > 0.005);
    const own = all.slice(0, SHOWN);
    const words = own.flatMap(({ text, weight }, at) => [at ? ", " : "", el("bdi", { text }), ` ${signed(weight)}`]);
    const list = words.length ? el("dd", {}, ...words) : el("dd", { class: "note", text: say("why.nowords") });
    const some = all.length > SHOWN ? ` ${say("why.some", { n: SHOWN, all: all.length })}` : "";
    return el("div", {}, el("dt", { text: say(key, { label }) + some }), list);
  };
  return el("dl", { class: "strongest" }, side("why.for", 1), side("why.against", -1));
}

/** @param {number} weight */
function signed(weight) {
  return `${weight < 0 ? "−" : "+"}${Math.abs(weight).toFixed(2)}`;
}

/**
 * Returns the line that says how far weights can be trusted.
 * @param {import("./types.js").Faithfulness[]} figures @param {string} method
 */
export function faithfulnessLine(figures, method) {
  const own = figures.find((each) => each.method === method);
  if (!own) return el("p", { class: "note", text: say("faithful.none") });
  const random = figures.find((each) => each.method === "random");
  const values = { drop: own.comprehensiveness.toFixed(2), n: own.texts };
  const line = random
    ? say("faithful", { ...values, random: random.comprehensiveness.toFixed(2) })
    : say("faithful.alone", values);
  return el("p", { class: "note", text: line });
}
