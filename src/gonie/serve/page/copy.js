// The request as curl or Python, the answer as JSON, and the address of the page.
import { hasKey } from "./api.js";
import { el, tell } from "./dom.js";
import { language, say } from "./language.js";
import { inCodePoints } from "./offsets.js";
import { fits, LINK_LIMIT } from "./state.js";

/** @typedef {import("./types.js").Context} Context */

const SHOWN = 3000;
const KINDS = /** @type {const} */ (["curl", "python", "json"]);
let kind = /** @type {"curl" | "python" | "json"} */ ("curl");

/** @type {import("./panel.js").Draw} */
export function drawCopy(element, context) {
  if (element.dataset.key !== language()) {
    element.dataset.key = language();
    element.replaceChildren(...build(element, context));
  }
  const code = codeOf(context);
  const cut = code.length > SHOWN;
  const shown = /** @type {HTMLElement} */ (element.querySelector("code"));
  shown.textContent = cut ? `${code.slice(0, SHOWN)} …` : code;
  /** @type {HTMLElement} */ (element.querySelector(".cut")).hidden = !cut;
  const key = fits(context.state.texts) ? "copy.link.note" : "copy.link.long";
  /** @type {HTMLElement} */ (element.querySelector(".link-note")).textContent = say(key, { n: LINK_LIMIT });
}

/** @param {HTMLElement} element @param {Context} context @returns {Node[]} */
function build(element, context) {
  const choices = KINDS.map((name) => {
    const input = el("input", { type: "radio", name: "copy-kind", value: name });
    input.checked = name === kind;
    input.addEventListener("change", () => {
      kind = name;
      drawCopy(element, context, new AbortController().signal);
    });
    return el("label", {}, input, say(`copy.${name}`));
  });
  return [
    el("fieldset", { class: "choices" }, el("legend", { text: say("copy.what") }), ...choices),
    el("pre", { tabindex: "0", role: "region", "aria-label": say("copy.what") }, el("code", {})),
    el("p", { class: "note cut", text: say("copy.cut") }),
    el("div", { class: "actions" },
      copyButton("copy.code", () => codeOf(context), "primary"), copyButton("copy.link", () => location.href)),
    el("p", { class: "note link-note" }),
  ];
}

/**
 * Returns a button that copies a text and says so.
 * @param {string} key @param {() => string} text @param {string} [shade] @param {string} [label] spoken name
 */
export function copyButton(key, text, shade = "", label = "") {
  const button = el("button", { type: "button", class: shade || null, "aria-label": label || null, text: say(key) });
  button.addEventListener("click", async () => {
    const told = say((await write(text())) ? "copy.done" : "copy.failed");
    tell(told);
    button.textContent = told;
    setTimeout(() => { button.textContent = say(key); }, 1500);
  });
  return button;
}

/** @param {string} text @returns {Promise<boolean>} */
async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return writeOldWay(text);
  }
}

/** Copies without the clipboard API, which needs HTTPS or localhost. @param {string} text */
function writeOldWay(text) {
  const area = el("textarea", { class: "sr-only", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

/** @param {Context} context */
function codeOf({ found }) {
  if (!found) return "";
  if (kind === "json") return JSON.stringify(inCodePoints(found.main), null, 2);
  return kind === "curl" ? curl(found.path, found.body) : python(found.body);
}

/** The page asks for UTF-16 offsets, which others need not: the default is code points. @param {string} path @param {object} body */
function curl(path, body) {
  const key = hasKey() ? ` \\\n  -H "Authorization: Bearer $GONIE_KEY"` : "";
  const data = JSON.stringify({ ...body, offsets: undefined }).replaceAll("'", "'\\''");
  return `curl ${location.origin}${path}${key} \\\n  -H 'Content-Type: application/json' \\\n  -d '${data}'`;
}

/** @param {any} body */
function python({ model, texts, pairs, decode, bias }) {
  const lines = ["import gonie", ""];
  if (hasKey()) lines.push("# The API key is the value of the variable GONIE_KEY.");
  lines.push(`client = gonie.Client(${literal(location.origin)}, model=${literal(model)})`);
  if (decode || bias) lines.push(`client = client.with_decoding(${literal(decode ?? "viterbi")}, bias=${literal(bias ?? {})})`);
  lines.push(`print(client(${(pairs?.[0] ?? texts).map(literal).join(", ")}))`);
  return lines.join("\n");
}

/** Returns texts, numbers and objects of them as Python, which reads them as JSON does. @param {unknown} value @returns {string} */
function literal(value) {
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
