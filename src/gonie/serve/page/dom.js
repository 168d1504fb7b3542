// Builds elements. Data only ever becomes text nodes and attributes, never markup.

/**
 * Returns a new element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props] attributes; `class`, `text`, and functions for events (`click`)
 * @param {...(Node | string | null | false | undefined)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(element, name, value);
  for (const child of children) if (child) element.append(child);
  return element;
}

/** @param {HTMLElement} element @param {string} name @param {unknown} value */
function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") element.addEventListener(name, /** @type {EventListener} */ (value));
  else if (name === "text") element.textContent = String(value);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** Returns the element with this id. @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element: ${id}`);
  return found;
}

/** Has a text read aloud by screen readers. @param {string} text */
export function tell(text) {
  byId("status").textContent = text;
}

/** Returns a bar of a share of 0 to 1. The number beside it says the same. @param {number} share */
export function bar(share) {
  const filled = el("span", { class: "fill" });
  filled.style.setProperty("--share-of", String(Math.min(1, Math.max(0, share))));
  return el("span", { class: "bar", "aria-hidden": "true" }, filled);
}

/** Returns data in its own direction, in quotation marks. @param {string} text */
export function quoted(text) {
  return el("bdi", { class: "piece", text });
}

/**
 * Replaces `{name}` in a text by nodes, so that data keeps its own direction and style.
 * @param {string} text @param {Record<string, Node>} nodes
 */
export function woven(text, nodes) {
  const made = document.createDocumentFragment();
  for (const piece of text.split(/(\{\w+\})/)) {
    const node = /^\{\w+\}$/.test(piece) ? nodes[piece.slice(1, -1)] : undefined;
    made.append(node ?? piece);
  }
  return made;
}
