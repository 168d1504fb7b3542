// The transition scores of the CRF as a table.
import { el } from "./dom.js";
import { say } from "./language.js";
import { isPlain } from "./spans.js";

/** @type {import("./panel.js").Draw} */
export function drawTransitions(element, { model }) {
  const { transitions } = model;
  if (!transitions || !learned(transitions)) return element.replaceChildren(el("p", { class: "note", text: say("transitions.none") }));
  const hint = el("p", { class: "note", id: "transitions-hint", text: say("transitions.hint") });
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("tab.transitions") }, table(transitions));
  const own = isPlain(model) ? [] : [el("p", { class: "note", text: say("tags.own") })];
  element.replaceChildren(hint, ...own, box);
}

/** Returns whether any score differs from 0. @param {import("./types.js").Transitions} transitions */
export function learned({ scores, start, end }) {
  return [...scores.flat(), ...start, ...end].some(Boolean);
}

/** @param {import("./types.js").Transitions} transitions */
function table({ labels, scores, start, end }) {
  const most = Math.max(1e-9, ...[...scores.flat(), ...start, ...end].map((score) => Math.abs(score ?? 0)));
  const head = [say("transitions.from"), ...labels, say("transitions.end")].map((text) => el("th", { scope: "col", text }));
  const rows = [
    row(say("transitions.start"), [...start, null], most),
    ...labels.map((label, at) => row(label, [...scores[at], end[at]], most)),
  ];
  return el("table", { class: "transitions" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
}

/** @param {string} name @param {(number | null)[]} scores @param {number} most */
function row(name, scores, most) {
  return el("tr", {}, el("th", { scope: "row", text: name }), ...scores.map((score) => cell(score, most)));
}

/** @param {number | null} score @param {number} most */
function cell(score, most) {
  if (score === null) return el("td", {}, el("span", { class: "sr-only", text: say("transitions.forbidden") }), el("span", { "aria-hidden": "true", text: "·" }));
  const shown = score.toFixed(most < 1 ? 2 : 1).replace(/^-(0\.0+)$/, "$1");
  const step = Math.round((10 * Number(shown)) / most);
  return el("td", { class: `heat-cell ${step < 0 ? `n${-step} against` : `h${step}`}`, text: shown.replace("-", "−") });
}
