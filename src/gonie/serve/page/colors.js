// The colours of labels, by the rule of gonie.reports.html.colors.label_classes.

const CLASSES = 10;

/**
 * Returns the CSS class of each label: c0 … c9 in the order of code points.
 * @param {Iterable<string>} labels
 * @returns {Map<string, string>}
 */
export function labelClasses(labels) {
  const sorted = [...new Set(labels)].sort(byCodePoint);
  return new Map(sorted.map((label, at) => [label, `c${at % CLASSES}`]));
}

/** @param {string} left @param {string} right */
function byCodePoint(left, right) {
  const [a, b] = [[...left], [...right]];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    if (a[at] !== b[at]) return /** @type {number} */ (a[at].codePointAt(0)) - /** @type {number} */ (b[at].codePointAt(0));
  }
  return a.length - b.length;
}
