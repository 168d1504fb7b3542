// Messages about problems of the service.
import { Problem } from "./api.js";
import { el } from "./dom.js";
import { known, say } from "./language.js";

/** Returns what is wrong, in the language of the page and then in the words of the service. @param {unknown} error */
function describe(error) {
  if (!(error instanceof Problem)) return say("problem.page", { message: error instanceof Error ? error.message : String(error) });
  const key = `problem.${error.type}`;
  return [say(known(key) ? key : "problem.other"), error.detail].filter(Boolean).join(" ");
}

/** Returns a box with the message. @param {unknown} error @param {number} [seconds] until the next attempt */
export function problemBox(error, seconds) {
  const again = seconds === undefined ? "" : ` ${say("problem.retry", { n: Math.ceil(seconds) })}`;
  return el("p", { class: "warning", text: describe(error) + again });
}
