// Sliders that trade precision for recall by type, the kind of decoding, and what they change.
import { el, quoted } from "./dom.js";
import { language, probability, say } from "./language.js";
import { compareSpans, spansOf } from "./spans.js";

/** @typedef {import("./types.js").Context} Context */

/** @type {import("./panel.js").Draw} */
export function drawDial(element, context) {
  const key = `${context.model.name} ${language()}`;
  if (element.dataset.key !== key) {
    element.dataset.key = key;
    element.replaceChildren(...build(context));
  }
  for (const input of element.querySelectorAll("input")) place(input, context);
  const reset = /** @type {HTMLButtonElement} */ (element.querySelector("button.reset"));
  reset.disabled = isDefault(context);
  element.querySelector(".changes")?.replaceChildren(...changes(context));
}

/** Sets a control to the state, unless it is the one that is being moved. @param {HTMLInputElement} input @param {Context} context */
function place(input, { state }) {
  if (input.type === "radio") input.checked = input.value === state.decode;
  else {
    const value = state.bias[input.dataset.type ?? ""] ?? 0;
    input.value = String(value);
    showValue(input, value);
  }
}

/** @param {HTMLInputElement} input @param {number} value */
function showValue(input, value) {
  const shown = `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value)}`;
  input.setAttribute("aria-valuetext", shown);
  const output = input.parentElement?.querySelector("output");
  if (output) output.textContent = shown;
}

/** @param {Context} context */
function isDefault({ state }) {
  return state.decode === "viterbi" && !Object.values(state.bias).some(Boolean);
}

/** @param {Context} context @returns {Node[]} */
function build(context) {
  const reset = el("button", { type: "button", class: "reset", text: say("dial.reset") });
  reset.addEventListener("click", () => context.change({ bias: {}, decode: "viterbi" }));
  return [
    el("p", { class: "note", text: say("dial.hint") }),
    el("div", { class: "sliders" }, ...context.model.types.map((type) => slider(type, context))),
    decoding(context),
    reset,
    el("h3", { text: say("dial.changes") }),
    el("div", { class: "changes", "aria-live": "polite" }),
  ];
}

/** @param {string} type @param {Context} context */
function slider(type, context) {
  const input = el("input", { type: "range", min: "-4", max: "4", step: "0.25", "data-type": type, "aria-label": say("dial.bias", { type }) });
  input.addEventListener("input", () => {
    const value = Number(input.value);
    showValue(input, value);
    const { [type]: _, ...rest } = context.state.bias;
    context.change({ bias: value ? { ...rest, [type]: value } : rest });
  });
  const ends = el("span", { class: "ends", "aria-hidden": "true" }, el("span", { text: say("dial.fewer") }), el("span", { text: say("dial.more") }));
  return el("div", { class: "slider" },
    el("span", { class: `tag ${context.classes.get(type) ?? ""}`, text: type }), input, el("output", {}), ends);
}

/** @param {Context} context */
function decoding(context) {
  const choice = (/** @type {"viterbi" | "posterior"} */ value) => {
    const input = el("input", { type: "radio", name: "decode", value });
    input.addEventListener("change", () => context.change({ decode: value }));
    return el("label", {}, input, say(`dial.${value}`));
  };
  return el("fieldset", { class: "choices" }, el("legend", { text: say("dial.decode") }), choice("viterbi"), choice("posterior"));
}

/** @param {Context} context @returns {Node[]} */
function changes(context) {
  const { found, model } = context;
  if (isDefault(context) || !found?.base) return [el("p", { class: "note", text: say("dial.unchanged") })];
  const spans = (/** @type {any} */ answer) => spansOf(answer.documents[0], model);
  const differences = compareSpans(spans(found.base), spans(found.main)).filter(({ kind }) => kind !== "same");
  if (!differences.length) return [el("p", { class: "note", text: say("dial.same") })];
  return [el("ul", { class: "difference-list" }, ...differences.slice(0, 100).map((each) => changeRow(each, context)))];
}

/** @param {import("./spans.js").Difference} difference @param {Context} context */
function changeRow({ kind, left, right }, context) {
  const names = { right: "dial.added", left: "dial.removed", type: "dial.retyped", same: "dial.same" };
  const tag = (/** @type {import("./types.js").Span | null} */ span) =>
    span && el("span", { class: `tag ${context.classes.get(span.label) ?? ""}`, text: `${span.label} ${probability(span.score)}` });
  return el("li", {}, el("span", { class: "kind", text: say(names[kind]) }), " ", quoted((right ?? left)?.text ?? ""), " ",
    tag(left), kind === "type" ? " → " : null, tag(right));
}
