// A text with its spans marked. The labels are drawn by CSS, so the text of the element is exactly the text.
import { el } from "./dom.js";
import { probability, say } from "./language.js";

/** @typedef {import("./types.js").Span} Span */

/**
 * @typedef {object} Drawing
 * @property {Map<string, string>} classes the CSS class of each type
 * @property {boolean} [actions] whether spans can be chosen
 * @property {(span: Span) => "" | "only" | "other"} [difference] how a span differs from the other model's
 */

/**
 * Returns the text with a mark for each span; overlapping ones are left out.
 * @param {string} text @param {Span[]} spans @param {Drawing} drawing
 */
export function marked(text, spans, drawing) {
  const made = document.createDocumentFragment();
  let at = 0;
  spans.forEach((span, number) => {
    if (span.start < at || span.end > text.length) return;
    if (span.start > at) made.append(text.slice(at, span.start));
    made.append(mark(text, span, number, drawing));
    at = span.end;
  });
  if (at < text.length) made.append(text.slice(at));
  return made;
}

/** @param {string} text @param {Span} span @param {number} number @param {Drawing} drawing */
function mark(text, span, number, drawing) {
  const difference = drawing.difference?.(span) ?? "";
  const score = typeof span.score === "number" ? ` ${probability(span.score)}` : "";
  const note = difference && ` · ${say(`diff.${difference}`)}`;
  const action = drawing.actions ? { role: "button", tabindex: number ? "-1" : "0" } : {};
  return el("mark", {
    ...action,
    class: [drawing.classes.get(span.label) ?? "", difference].join(" ").trim() || null,
    "data-note": `${span.label}${score}${note}`,
    "data-span": String(number),
    text: text.slice(span.start, span.end),
  });
}

/** Moves the focus between the marks of an element with the arrow keys, and calls `choose` for one. */
export class MarkKeys {
  /** @param {HTMLElement} element @param {(number: number) => void} choose */
  constructor(element, choose) {
    this.element = element;
    this.choose = choose;
    element.addEventListener("keydown", (event) => this.#key(event));
    element.addEventListener("click", (event) => this.#click(event));
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const found = /** @type {Element} */ (event.target).closest("mark[role=button]");
    if (found && getSelection()?.isCollapsed !== false) this.#take(/** @type {HTMLElement} */ (found), true);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const marks = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll("mark[role=button]")]);
    const at = marks.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at < 0) return;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const step = steps[/** @type {keyof steps} */ (event.key)];
    if (event.key === "Enter" || event.key === " ") this.#take(marks[at], true);
    else if (step) this.#take(marks[(at + step + marks.length) % marks.length], false);
    else return;
    event.preventDefault();
  }

  /** @param {HTMLElement} mark @param {boolean} chosen */
  #take(mark, chosen) {
    for (const other of this.element.querySelectorAll('mark[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    mark.setAttribute("tabindex", "0");
    mark.focus();
    if (chosen) this.choose(Number(mark.dataset.span));
  }
}
