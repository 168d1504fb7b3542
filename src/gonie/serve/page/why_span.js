// "Why?" for taggers: what speaks for and against a type for a piece of the text.
import { el, quoted, tell, woven } from "./dom.js";
import { excerpt, wholeLimit } from "./excerpt.js";
import { faithfulnessLine, heatMap, strongestWords } from "./heat.js";
import { language, probability, say } from "./language.js";
import { placed, question, widened } from "./piece.js";
import { problemBox } from "./problems.js";
import { isPlain, spansOf } from "./spans.js";

/** @typedef {import("./types.js").Context} Context */
/** @typedef {import("./types.js").Piece} Piece */
/** @typedef {import("./types.js").Explanation} Explanation */

/** Longer texts are explained in parts of this many UTF-16 units, because each word is erased once per span. */
const FEW = 600;

/** Draws the form and, if a piece was chosen, its explanation. @type {import("./panel.js").Draw} */
export async function drawWhySpan(element, context, signal) {
  const form = formOf(element, context);
  fill(form, context.piece);
  const out = /** @type {HTMLElement} */ (element.querySelector(".out"));
  const text = context.found?.texts[0] ?? "";
  const tokens = context.found?.main.documents[0].tokens ?? [];
  const found = context.piece && placed(context.piece, text, context.place);
  const piece = found && widened(found, text, tokens);
  if (!context.piece) return out.replaceChildren();
  if (!piece) return out.replaceChildren(absent(context.piece.text));
  try {
    const nodes = await explained(context, piece, text, signal);
    tell(nodes[0].textContent ?? "");
    out.replaceChildren(...nodes);
  } catch (error) {
    if (!signal.aborted) out.replaceChildren(problemBox(error));
  }
}

/** @param {HTMLElement} element @param {Context} context @returns {HTMLFormElement} */
function formOf(element, context) {
  const key = `${context.model.name} ${language()}`;
  const old = /** @type {HTMLFormElement | null} */ (element.querySelector("form"));
  if (old?.dataset.key === key) return old;
  const types = context.model.types.map((type) => el("option", { value: type, text: type }));
  types.unshift(el("option", { value: "", text: say("why.any") }));
  const form = el("form", { class: "controls ask", "data-key": key },
    el("label", {}, say("why.piece"), el("input", { name: "piece", autocomplete: "off", spellcheck: "false", dir: "auto" })),
    el("label", {}, say("why.type"), el("select", { name: "type" }, ...types)),
    el("button", { class: "primary", type: "submit", text: say("why.ask") }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form, context);
  });
  element.replaceChildren(
    el("p", { class: "note", text: say("why.hint") }), form, el("div", { class: "out" }));
  return form;
}

/** @param {HTMLFormElement} form @param {Piece | null} piece */
function fill(form, piece) {
  if (!piece || document.activeElement === form.elements.namedItem("piece")) return;
  /** @type {HTMLInputElement} */ (form.elements.namedItem("piece")).value = piece.text;
  /** @type {HTMLSelectElement} */ (form.elements.namedItem("type")).value = piece.label;
}

/** @param {HTMLFormElement} form @param {Context} context */
function ask(form, context) {
  const text = /** @type {HTMLInputElement} */ (form.elements.namedItem("piece")).value.trim();
  const label = /** @type {HTMLSelectElement} */ (form.elements.namedItem("type")).value;
  const { piece } = context;
  const same = piece && piece.text === text;
  if (text) context.choose({ text, label, start: same ? piece.start : -1, end: same ? piece.end : -1 });
}

/** @param {string} text */
function absent(text) {
  return el("p", { class: "note" }, woven(say("why.absent", { text: "{text}" }), { text: quoted(text) }));
}

/**
 * Explains the piece with a few sentences around it or, if that splits sentences differently, with more.
 * @param {Context} context @param {Piece} piece @param {string} text @param {AbortSignal} signal
 * @returns {Promise<Node[]>}
 */
async function explained(context, piece, text, signal) {
  for (const most of [FEW, wholeLimit(context.model)]) {
    const part = excerpt(text, piece.start, most);
    const found = await asked(context, piece, part, signal);
    const answer = answerOf(found, piece, part.start);
    if (answer) return [verdict(context, answer, found), ...evidence(part.text, answer, found), settingsNote(context)];
  }
  return [el("p", { class: "note" }, woven(say("why.unanswered", { text: "{text}" }), { text: quoted(piece.text) }))];
}

/** @param {Context} context @param {Piece} piece @param {{text: string, start: number}} part @param {AbortSignal} signal */
async function asked(context, piece, part, signal) {
  const { tokens } = context.found?.main.documents[0];
  const spans = isFound(context, piece) ? {} : { spans: [question(piece, part, tokens)] };
  const body = { model: context.model.name, texts: [part.text], methods: ["erasure"], ...spans };
  const found = await context.explain(body, signal);
  signal.throwIfAborted();
  return found;
}

/** Returns the answer about the piece. @param {Explanation} found @param {Piece} piece @param {number} shift */
function answerOf(found, piece, shift) {
  const here = found.answers.filter(({ start, end }) => start + shift === piece.start && end + shift === piece.end);
  return here.find((each) => (piece.label ? each.label === piece.label : each.asked));
}

/** Returns whether the model with default settings tags the piece so. @param {Context} context @param {Piece} piece */
function isFound({ found, model }, piece) {
  const spans = found ? spansOf(found.base.documents[0], model) : [];
  return spans.some(({ start, end, label }) => start === piece.start && end === piece.end && label === piece.label);
}

/** @param {Context} context @param {import("./types.js").Answer} answer @param {Explanation} found */
function verdict(context, answer, found) {
  const tagged = found.answers.some((each) =>
    !each.asked && each.label === answer.label && each.start === answer.start && each.end === answer.end);
  const nodes = { text: quoted(answer.text), label: typeTag(context, answer.label) };
  const line = say(tagged ? "why.yes" : "why.no", { text: "{text}", label: "{label}", score: probability(answer.score) });
  const made = el("p", { class: "verdict" }, woven(line, nodes));
  if (!tagged) made.append(" ", woven(say("why.preferred", { tags: "{tags}" }), { tags: preferred(context, answer, found) }));
  return made;
}

/** @param {Context} context @param {string} label */
function typeTag(context, label) {
  return el("span", { class: `tag ${context.classes.get(label) ?? ""}`, text: label });
}

/** Returns the spans that the model found there instead. @param {Context} context @param {import("./types.js").Answer} answer @param {Explanation} found */
function preferred(context, answer, found) {
  const made = document.createDocumentFragment();
  const over = (/** @type {{start: number, end: number}} */ each) => each.start < answer.end && each.end > answer.start;
  const others = found.answers.filter((each) => !each.asked && over(each));
  others.forEach((each, at) => made.append(at ? ", " : "", quoted(each.text), " ", typeTag(context, each.label), ` ${probability(each.score)}`));
  if (others.length === 0) {
    const score = Math.min(...found.tokens.filter(over).map((token) => token.score));
    made.append(`${say("why.outside")} ${Number.isFinite(score) ? probability(score) : ""}`.trim());
  }
  return made;
}

/** @param {string} text @param {import("./types.js").Answer} answer @param {Explanation} found @returns {Node[]} */
function evidence(text, answer, found) {
  const weights = answer.weights.erasure;
  if (!weights) return [];
  const [from, to] = found.sentences[answer.sentence];
  const tokens = found.tokens.slice(from, to);
  const [start, end] = [tokens[0].start, tokens[tokens.length - 1].end];
  const move = (/** @type {any} */ each) => ({ ...each, start: each.start - start, end: each.end - start });
  return [
    heatMap(text.slice(start, end), tokens.map(move), weights, { piece: move(answer) }),
    el("p", { class: "note", text: say("why.key") }),
    strongestWords(tokens, weights, answer.label),
    faithfulnessLine(found.faithfulness, "erasure"),
  ];
}

/** @param {Context} context */
function settingsNote({ state, model }) {
  const set = state.decode !== "viterbi" || Object.values(state.bias).some(Boolean);
  return set && !isPlain(model) ? el("p", { class: "note", text: say("why.plain") }) : document.createDocumentFragment();
}
