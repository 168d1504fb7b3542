// Tabs by the ARIA pattern: arrow keys move, Home and End go to the ends.

export class Tabs {
  /** @param {HTMLElement} list @param {(name: string) => void} onShow */
  constructor(list, onShow) {
    this.list = list;
    this.onShow = onShow;
    this.shown = "";
    list.addEventListener("click", (event) => this.#click(event));
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @returns {HTMLElement[]} */
  get #tabs() {
    return /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll("[role=tab]:not([hidden])")]);
  }

  /** Shows only these tabs, and one of them. @param {string[]} names */
  offer(names) {
    for (const tab of this.list.querySelectorAll("[role=tab]")) {
      /** @type {HTMLElement} */ (tab).hidden = !names.includes(/** @type {HTMLElement} */ (tab).dataset.tab ?? "");
    }
    this.show(names.includes(this.shown) ? this.shown : names[0]);
  }

  /** @param {string} name */
  show(name) {
    this.shown = name;
    for (const tab of this.list.querySelectorAll("[role=tab]")) {
      const chosen = /** @type {HTMLElement} */ (tab).dataset.tab === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.setAttribute("tabindex", chosen ? "0" : "-1");
      const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
      if (panel) panel.hidden = !chosen;
    }
    this.onShow(name);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const tab = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[role=tab]"));
    if (tab) this.show(tab.dataset.tab ?? "");
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const tabs = this.#tabs;
    const at = tabs.findIndex((tab) => tab.dataset.tab === this.shown);
    const goals = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    const goal = goals[/** @type {keyof goals} */ (event.key)];
    if (goal === undefined) return;
    event.preventDefault();
    const tab = tabs[(goal + tabs.length) % tabs.length];
    this.show(tab.dataset.tab ?? "");
    tab.focus();
  }
}
