// The language of the page: looks texts up and writes them into elements with data-text.
import { TEXTS } from "./texts.js";

export const LANGUAGES = /** @type {const} */ (["en", "ko"]);
const STORED = "gonie-language";
let current = 0;

/** @returns {"en" | "ko"} */
export function language() {
  return LANGUAGES[current];
}

/** Returns the language of the last visit, or else that of the browser. @returns {"en" | "ko"} */
export function preferred() {
  const stored = read();
  if (stored === "en" || stored === "ko") return stored;
  return navigator.language.toLowerCase().startsWith("ko") ? "ko" : "en";
}

/** Sets the language and writes all static texts. @param {"en" | "ko"} chosen */
export function use(chosen) {
  current = LANGUAGES.indexOf(chosen);
  document.documentElement.lang = chosen;
  document.title = say("title");
  write(document);
}

/** Stores the language that the reader chose. @param {"en" | "ko"} chosen */
export function remember(chosen) {
  try {
    localStorage.setItem(STORED, chosen);
  } catch { /* storage is off: the choice lasts until the page is closed */ }
}

function read() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/**
 * Returns a text of the table with its values.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function say(key, values = {}) {
  const row = TEXTS[key];
  if (!row) throw new Error(`no text: ${key}`);
  return row[current].replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, one, many) => {
    if (one !== undefined) return values[name] === 1 ? one : many;
    const value = values[name];
    return typeof value === "number" ? value.toLocaleString(LANGUAGES[current]) : String(value);
  });
}

/** Returns whether the table has a text. @param {string} key */
export function known(key) {
  return Object.hasOwn(TEXTS, key);
}

/** Writes the texts of elements with data-text, data-label and data-placeholder. @param {ParentNode} root */
export function write(root) {
  for (const element of root.querySelectorAll("[data-text]")) {
    element.textContent = say(/** @type {HTMLElement} */ (element).dataset.text ?? "");
  }
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", say(/** @type {HTMLElement} */ (element).dataset.label ?? ""));
  }
  for (const element of root.querySelectorAll("[data-placeholder]")) {
    element.setAttribute("placeholder", say(/** @type {HTMLElement} */ (element).dataset.placeholder ?? ""));
  }
}

/** Returns a probability with two digits, but never as 0 or 1. @param {number | null | undefined} value */
export function probability(value) {
  if (typeof value !== "number") return "–";
  const shown = value.toFixed(2);
  if (shown === "0.00") return "<0.01";
  return shown === "1.00" ? ">0.99" : shown;
}
