// What depends on the chosen models and the language, not on an answer: choices, names, examples, tabs.
import { byId, el } from "./dom.js";
import { examplesFor } from "./examples.js";
import { LANGUAGES, language, say } from "./language.js";
import { taskOf } from "./models.js";
import { learned } from "./transitions.js";

/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Context} Context */

/** Returns the models that can be compared with a model. @param {Model} model @param {Model[]} models */
export function partnersOf({ command, texts, name }, models) {
  return models.filter((each) => each.command === command && each.texts === texts && each.name !== name);
}

/** Returns the names of the tabs that a model has. @param {Model} model */
export function tabsOf({ command, methods, transitions }) {
  const why = methods.some((method) => ["erasure", "attention"].includes(method)) ? ["why"] : [];
  if (command !== "tag") return [...why, "copy"];
  return [...why, "tokens", "nbest", "dial", ...(transitions && learned(transitions) ? ["transitions"] : []), "copy"];
}

/** @param {Context} context @param {Model[]} models @param {Model[]} partners */
export function drawFrame(context, models, partners) {
  drawChoices(context, models, partners);
  drawInput(context.model);
  drawOutput(context);
  for (const chosen of LANGUAGES) {
    document.querySelector(`[data-language=${chosen}]`)?.setAttribute("aria-pressed", String(chosen === language()));
  }
}

/** @param {Context} context @param {Model[]} models @param {Model[]} partners */
function drawChoices({ model, state }, models, partners) {
  fill("model", models.map((each) => [each.name, `${each.name} · ${taskOf(each)}`]), model.name);
  fill("other", [["", say("model.none")], ...partners.map(({ name }) => [name, name])], state.other);
  byId("other-label").hidden = !partners.length;
}

/** @param {string} id @param {string[][]} options @param {string} chosen */
function fill(id, options, chosen) {
  const select = /** @type {HTMLSelectElement} */ (byId(id));
  select.replaceChildren(...options.map(([value, text]) => el("option", { value, text })));
  select.value = chosen;
}

/** @param {Model} model */
function drawInput(model) {
  const pair = model.texts > 1;
  byId("second").hidden = !pair;
  byId("text-0-name").textContent = say(pair ? "text.first" : "text");
  byId("text-0-name").classList.toggle("sr-only", !pair);
  for (const id of ["text-0", "text-1", "left", "right"]) byId(id).lang = model.language;
}

/** @param {Context} context */
function drawOutput({ model, other }) {
  const tag = model.command === "tag";
  byId("result-hint").textContent = tag ? say("result.hint") : "";
  byId("result-foot").hidden = !tag;
  for (const id of ["left", "right"]) byId(id).classList.toggle("marked", tag);
  byId("workspace").classList.toggle("compared", Boolean(other));
  byId("right-side").hidden = !other;
  byId("left-name").hidden = !other;
  byId("left-name").textContent = say("result.of", { model: model.name });
  byId("right-name").textContent = say("result.of", { model: other?.name ?? "" });
}

/** @param {Model} model @param {(texts: string[]) => void} choose */
export function drawExamples(model, choose) {
  const buttons = examplesFor(model).map(({ name, texts }) =>
    el("button", { type: "button", class: "chip", lang: model.language || null, text: name, click: () => choose(texts) }));
  byId("examples").replaceChildren(el("span", { class: "note", "aria-hidden": "true", text: say("examples") }), ...buttons);
}
