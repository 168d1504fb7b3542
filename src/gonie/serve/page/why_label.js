// "Why?" for classifiers and pairs: a heat map of each method for one label.
import { el } from "./dom.js";
import { faithfulnessLine, heatMap, largest, strongestWords } from "./heat.js";
import { known, language, say } from "./language.js";
import { problemBox } from "./problems.js";

/** @typedef {import("./types.js").Context} Context */
/** @typedef {import("./types.js").Explanation} Explanation */

/** Texts with more UTF-16 units are explained only on demand. */
const AUTOMATIC = 1000;

/** @type {import("./panel.js").Draw} */
export async function drawWhyLabel(element, context, signal) {
  const { select, out } = frameOf(element, context);
  const { found } = context;
  if (!found) return out.replaceChildren();
  if (found.texts.join("").length <= AUTOMATIC) return show(out, context, select.value, signal);
  const button = el("button", { type: "button", class: "primary", text: say("why.start") });
  button.addEventListener("click", () => show(out, context, select.value, signal));
  out.replaceChildren(el("p", { class: "note", text: say("why.long") }), button);
}

/** @param {HTMLElement} element @param {Context} context */
function frameOf(element, context) {
  const key = `${context.model.name} ${language()}`;
  const labels = ["", ...context.model.labels];
  let select = /** @type {HTMLSelectElement | null} */ (element.querySelector("select"));
  if (!select || element.dataset.key !== key) {
    element.dataset.key = key;
    select = el("select", {}, ...labels.map((label) => el("option", { value: label, text: label })));
    select.addEventListener("change", () => context.redraw());
    const row = el("div", { class: "controls" }, el("label", {}, say("why.label"), select));
    row.hidden = context.model.labels.length < 2;
    element.replaceChildren(row, el("div", { class: "out" }));
  }
  const label = context.found?.main.results[0].label;
  select.options[0].textContent = label ? say("why.predicted", { label }) : "–";
  return { select, out: /** @type {HTMLElement} */ (element.querySelector(".out")) };
}

/** @param {HTMLElement} out @param {Context} context @param {string} label @param {AbortSignal} signal */
async function show(out, context, label, signal) {
  const texts = context.found?.texts ?? [];
  const given = texts.length > 1 ? { pairs: [texts] } : { texts };
  const body = { model: context.model.name, ...given, ...(label ? { label } : {}) };
  if (!out.firstChild) out.replaceChildren(el("p", { class: "note", text: say("why.working") }));
  try {
    const found = await context.explain(body, signal);
    if (!signal.aborted) out.replaceChildren(...maps(found, texts));
  } catch (error) {
    if (!signal.aborted) out.replaceChildren(problemBox(error));
  }
}

/** @param {Explanation} found @param {string[]} texts @returns {Node[]} */
function maps(found, texts) {
  const [answer] = found.answers;
  const methods = ["erasure", "attention"].filter((method) => answer?.weights[method]);
  return methods.map((method) => {
    const weights = answer.weights[method];
    const share = method === "attention";
    const section = el("section", { class: "map" },
      el("h3", { text: known(`method.${method}`) ? say(`method.${method}`) : method }));
    section.append(...parts(found, texts, weights, share));
    section.append(el("p", { class: "note", text: say(share ? "why.share" : "why.key") }));
    if (!share) section.append(strongestWords(found.tokens, weights, answer.label || say("why.prediction")));
    section.append(faithfulnessLine(found.faithfulness, method));
    return section;
  });
}

/** Returns a heat map for each text. @param {Explanation} found @param {string[]} texts @param {number[]} weights @param {boolean} share */
function parts(found, texts, weights, share) {
  const most = largest(weights);
  return texts.map((text, part) => {
    const own = found.tokens.map((token, at) => ({ token, weight: weights[at] })).filter(({ token }) => (token.part ?? 0) === part);
    return heatMap(text, own.map(({ token }) => token), own.map(({ weight }) => weight), { share, most });
  });
}
