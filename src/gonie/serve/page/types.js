// The messages of the service that the page reads (docs/reference/service.md), as types for JSDoc.

/**
 * @typedef {object} Span
 * @property {number} start @property {number} end @property {string} label
 * @property {string} text @property {number} [score]
 *
 * @typedef {object} Token
 * @property {number} start @property {number} end @property {string} text
 * @property {string} tag @property {number} score
 * @property {Record<string, number>} [marginals] @property {number} [part]
 *
 * @typedef {object} Candidate
 * @property {number} score @property {string[]} tags @property {Span[]} spans
 *
 * @typedef {object} TaggedDocument
 * @property {string} text @property {Span[]} spans @property {Token[]} tokens @property {string[]} [notes]
 *
 * @typedef {object} Classified
 * @property {string} [label] @property {number} [score] @property {Record<string, number>} [scores]
 * @property {string[]} [labels] @property {number} [value] @property {string[]} [notes]
 *
 * @typedef {object} Answer
 * @property {string} label @property {number | null} score @property {string} text
 * @property {number} start @property {number} end @property {number} sentence
 * @property {boolean} asked @property {Record<string, number[]>} weights
 *
 * @typedef {object} Faithfulness
 * @property {string} method @property {number} comprehensiveness
 * @property {number} sufficiency @property {number} texts
 *
 * @typedef {object} Explanation
 * @property {string} text @property {Token[]} tokens @property {[number, number][]} sentences
 * @property {Candidate[][]} nbest @property {Answer[]} answers @property {Faithfulness[]} faithfulness
 *
 * @typedef {object} Transitions
 * @property {string[]} labels @property {(number | null)[][]} scores
 * @property {(number | null)[]} start @property {(number | null)[]} end
 *
 * @typedef {object} Model
 * @property {string} name @property {string} task @property {"tag" | "classify"} command
 * @property {string[]} labels @property {string[]} types
 * @property {string} language @property {string} unit
 * @property {number} texts @property {boolean} multi_label @property {string[]} methods
 * @property {string} bundle @property {number} bytes @property {string} gonie
 * @property {Record<string, any>} scores @property {Transitions | null} transitions
 *
 * @typedef {object} Found the answers to what was typed
 * @property {string[]} texts
 * @property {string} path
 * @property {object} body the request of `main`
 * @property {any} main the answer of the model
 * @property {any} base the answer of the model with default settings
 * @property {any} other the answer of the model to compare with, or null
 *
 * @typedef {object} Piece a piece of the text that the reader asks about
 * @property {string} text @property {number} start @property {number} end @property {string} label
 *
 * @typedef {object} Context what panels read and call
 * @property {import("./state.js").State} state
 * @property {Model} model
 * @property {Model | null} other
 * @property {Map<string, string>} classes the CSS class of each type
 * @property {Found | null} found
 * @property {Piece | null} piece
 * @property {number} place where in the text the reader last was
 * @property {(body: object, signal: AbortSignal) => Promise<Explanation>} explain
 * @property {(changes: Partial<import("./state.js").State>) => void} change
 * @property {() => void} redraw draws the panel again
 * @property {(piece: Piece) => void} choose
 */
export {};
