// The tokens of a sentence, and the most probable tags of one of them.
import { bar, el, quoted, woven } from "./dom.js";
import { probability, say } from "./language.js";
import { isPlain } from "./spans.js";

/** @typedef {import("./types.js").Token} Token */

const TOP = 6;

/**
 * Returns the tokens as a row of buttons, and the tags of the chosen one.
 * @param {import("./sentence.js").SentenceDetails} details
 * @param {import("./types.js").Context} context
 */
export function tokenView(details, context) {
  const out = el("div", { class: "token-tags", "aria-live": "polite" });
  const buttons = details.tokens.map((token) => tokenButton(token, context));
  const row = el("div", { class: "tokens", role: "toolbar", "aria-label": say("tab.tokens"), dir: "auto" }, ...buttons);
  const show = (/** @type {number} */ at) => {
    buttons.forEach((button, other) => {
      button.tabIndex = other === at ? 0 : -1;
      button.setAttribute("aria-pressed", String(other === at));
    });
    out.replaceChildren(...topTags(details.tokens[at], context));
  };
  listen(row, buttons, show);
  show(first(details.tokens));
  const hints = ["tokens.hint", ...(isPlain(context.model) ? [] : ["tags.own"])].map((key) => el("p", { class: "note", text: say(key) }));
  return [...hints, row, out];
}

/** Returns the least certain token, which is the most interesting one. @param {Token[]} tokens */
function first(tokens) {
  return tokens.reduce((least, token, at) => (token.score < tokens[least].score ? at : least), 0);
}

/** @param {HTMLElement} row @param {HTMLElement[]} buttons @param {(at: number) => void} show */
function listen(row, buttons, show) {
  const at = (/** @type {Event} */ event) =>
    buttons.indexOf(/** @type {HTMLElement} */ (/** @type {Element} */ (event.target).closest("button")));
  for (const kind of ["pointerover", "focusin", "click"]) {
    row.addEventListener(kind, (event) => at(event) >= 0 && show(at(event)));
  }
  row.addEventListener("keydown", (event) => {
    const goals = { ArrowRight: at(event) + 1, ArrowLeft: at(event) - 1, Home: 0, End: buttons.length - 1 };
    const goal = goals[/** @type {keyof goals} */ (event.key)];
    if (goal === undefined) return;
    event.preventDefault();
    buttons[(goal + buttons.length) % buttons.length].focus();
  });
}

/** @param {Token} token @param {import("./types.js").Context} context */
function tokenButton(token, context) {
  const type = typeOf(token.tag, context);
  const shade = type ? `token ${context.classes.get(type) ?? ""}` : "token";
  return el("button", { type: "button", class: shade },
    el("bdi", { text: token.text }), el("small", { text: token.tag }));
}

/** Returns the type of a tag, or "" for the outside tag. @param {string} tag @param {import("./types.js").Context} context */
function typeOf(tag, { model }) {
  const fitting = model.types.filter((type) => tag === type || tag.endsWith(`-${type}`) || tag.startsWith(`${type}-`));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? "";
}

/** @param {Token} token @param {import("./types.js").Context} context @returns {Node[]} */
function topTags(token, context) {
  const ranked = Object.entries(token.marginals ?? {}).sort(([, a], [, b]) => b - a).slice(0, TOP);
  const rows = ranked.map(([tag, share]) =>
    el("li", { class: context.classes.get(typeOf(tag, context)) ?? null },
      el("span", { class: "name", text: tag }), bar(share), el("span", { class: "number", text: probability(share) })));
  const heading = el("h3", {}, woven(say("tokens.of", { text: "{text}" }), { text: quoted(token.text) }));
  return [heading, el("ol", { class: "bars" }, ...rows)];
}
