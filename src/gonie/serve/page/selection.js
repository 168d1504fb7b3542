// The piece of text that is selected, in the input or in the result.

/** @typedef {{start: number, end: number, text: string}} Selected */

export class Selection {
  /**
   * Calls `onSelect` when a piece of either is selected, or no longer. It stays when the focus moves on.
   * @param {HTMLTextAreaElement} input @param {HTMLElement} result
   * @param {(found: Selected | null) => void} onSelect
   */
  constructor(input, result, onSelect) {
    document.addEventListener("selectionchange", () => {
      if (document.activeElement === input) {
        onSelect(trimmed(input.value, input.selectionStart, input.selectionEnd - input.selectionStart));
      } else if (result.contains(getSelection()?.anchorNode ?? null)) {
        onSelect(selectedIn(result));
      }
    });
  }
}

/** Returns the selected part of the text of an element. @param {HTMLElement} element @returns {Selected | null} */
function selectedIn(element) {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  if (!element.contains(range.startContainer) || !element.contains(range.endContainer)) return null;
  const before = document.createRange();
  before.selectNodeContents(element);
  before.setEnd(range.startContainer, range.startOffset);
  return trimmed(element.textContent ?? "", before.toString().length, range.toString().length);
}

/**
 * Returns a part of a text without spaces at its ends.
 * @param {string} text @param {number} from @param {number} length
 * @returns {Selected | null}
 */
function trimmed(text, from, length) {
  const part = text.slice(from, from + length);
  const start = from + part.length - part.trimStart().length;
  const end = start + part.trim().length;
  return end > start ? { start, end, text: text.slice(start, end) } : null;
}
