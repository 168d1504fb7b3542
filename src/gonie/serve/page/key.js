// Asks for an API key in a dialog. `api.js` keeps it for the tab.
import { Problem } from "./api.js";
import { byId } from "./dom.js";
import { say } from "./language.js";

/**
 * Returns the key that the reader types. Closing the dialog is an error.
 * @param {boolean} wrong whether a key was sent and not accepted
 * @returns {Promise<string>}
 */
export function askKey(wrong) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("key-dialog"));
  const input = /** @type {HTMLInputElement} */ (byId("key-input"));
  const note = byId("key-wrong");
  note.textContent = wrong ? say("key.wrong") : "";
  note.hidden = !wrong;
  if (!dialog.open) dialog.showModal();
  input.focus();
  return new Promise((resolve, reject) => {
    byId("key-form").onsubmit = (event) => {
      event.preventDefault();
      const key = input.value.trim();
      input.value = "";
      if (!key) return;
      resolve(key);
      dialog.close();
    };
    dialog.onclose = () => reject(new Problem({ type: "key-required", status: 401 }));
  });
}
