// The list of models that are served.
import { copyButton } from "./copy.js";
import { el } from "./dom.js";
import { known, language, say } from "./language.js";

/** @typedef {import("./types.js").Model} Model */

/**
 * Draws the list.
 * @param {HTMLElement} element @param {Model[]} models @param {string} chosen @param {(name: string) => void} choose
 */
export function drawModels(element, models, chosen, choose) {
  const names = ["name", "task", "language", "labels", "score", "size", "bundle"];
  const head = names.map((name) => el("th", { scope: "col", text: say(`models.${name}`) }));
  const rows = models.map((model) => modelRow(model, model.name === chosen, choose));
  element.replaceChildren(el("table", { class: "stack models" },
    el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows)));
}

/** @param {Model} model @param {boolean} chosen @param {(name: string) => void} choose */
function modelRow(model, chosen, choose) {
  const name = chosen
    ? el("span", {}, el("bdi", { text: model.name }), " ", el("small", { class: "in-use", text: say("models.chosen") }))
    : el("button", { type: "button", class: "link", "aria-label": say("models.use", { model: model.name }), click: () => choose(model.name) }, el("bdi", { text: model.name }));
  const cells = [
    ["task", taskOf(model)], ["language", languageOf(model)], ["labels", labelsOf(model)],
    ["score", scoreOf(model)], ["size", sizeOf(model.bytes)], ["bundle", bundleOf(model)],
  ];
  return el("tr", { "aria-current": chosen ? "true" : null }, el("th", { scope: "row" }, name),
    ...cells.map(([key, value]) => el("td", { "data-name": say(`models.${key}`) }, value)));
}

/** @param {Model} model */
export function taskOf(model) {
  return known(`task.${model.task}`) ? say(`task.${model.task}`) : model.task;
}

/** @param {Model} model */
function languageOf(model) {
  return known(`language.${model.language}`) ? say(`language.${model.language}`) : model.language || "–";
}

/** @param {Model} model */
function labelsOf(model) {
  const names = model.types.length ? model.types : model.labels;
  return names.length > 4 ? el("span", { title: names.join(", "), text: String(names.length) }) : names.join(", ") || "–";
}

/** Returns the headline of the test scores, or else of the dev scores. @param {Model} model */
function scoreOf({ scores = {} }) {
  for (const split of ["test", "dev"]) {
    const own = scores[split];
    const name = own?.headline ?? Object.keys(own ?? {}).find((key) => typeof own[key] === "number");
    if (typeof own?.[name] === "number") return `${named(name)} ${own[name].toFixed(3)} (${split})`;
  }
  const flat = Object.entries(scores).find(([, value]) => typeof value === "number");
  return flat ? `${named(flat[0])} ${flat[1].toFixed(3)}` : say("models.unmeasured");
}

/** @param {string} name */
function named(name) {
  return name.replaceAll("_", " ").replace(/\bf1\b/, "F1");
}

/** @param {number} bytes */
function sizeOf(bytes) {
  const format = new Intl.NumberFormat(language(), { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });
  return format.format(bytes / 1e6);
}

/** @param {Model} model */
function bundleOf(model) {
  return el("span", { class: "hash" }, el("code", { text: model.bundle.slice(0, 8), title: model.bundle }), " ",
    copyButton("copy.code", () => model.bundle, "link", say("models.copy", { model: model.name })));
}
