// A panel of the details: draws itself when it is shown, and drops what came too late.
import { problemBox } from "./problems.js";

/** @typedef {import("./types.js").Context} Context */
/** @typedef {(element: HTMLElement, context: Context, signal: AbortSignal) => void | Promise<void>} Draw */

export class Panel {
  /** @param {HTMLElement} element @param {Draw} draw */
  constructor(element, draw) {
    this.element = element;
    this.draw = draw;
    this.control = new AbortController();
  }

  /** @param {Context} context */
  async update(context) {
    this.control.abort();
    this.control = new AbortController();
    const { signal } = this.control;
    this.element.setAttribute("aria-busy", "true");
    try {
      await this.draw(this.element, context, signal);
    } catch (error) {
      if (!signal.aborted) this.element.replaceChildren(problemBox(error));
    }
    if (!signal.aborted) this.element.setAttribute("aria-busy", "false");
  }
}
