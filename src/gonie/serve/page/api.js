// Requests to the service: errors as `Problem`, waiting when it is busy or away, and its API key.

const KEY = "gonie-key";
const ATTEMPTS = 6;
const LONGEST_WAIT = 30;

/** An error of the service (application/problem+json), or of the network (`offline`). */
export class Problem extends Error {
  /** @param {{type: string, status: number, detail?: string, wait?: number | null}} fields */
  constructor({ type, status, detail = "", wait = null }) {
    super(detail || type);
    this.type = type;
    this.status = status;
    this.detail = detail;
    /** Seconds until it is worth trying again; null if it is not. */
    this.wait = wait;
  }
}

/**
 * @typedef {object} Options
 * @property {AbortSignal} [signal] ends waiting, and drops an answer that came too late
 * @property {boolean} [cancel] also ends the request itself
 * @property {(problem: Problem, seconds: number) => void} [onWait]
 */

export class Api {
  /** @param {(wrong: boolean) => Promise<string>} askKey asks the reader for an API key */
  constructor(askKey) {
    this.askKey = askKey;
    /** @type {Promise<void> | null} */
    this.asking = null;
  }

  /** @param {string} path @param {Options} [options] */
  get(path, options = {}) {
    return this.#patient(path, {}, options);
  }

  /** @param {string} path @param {object} body @param {Options} [options] */
  post(path, body, options = {}) {
    const headers = { "Content-Type": "application/json" };
    return this.#patient(path, { method: "POST", headers, body: JSON.stringify(body) }, options);
  }

  /** @param {string} path @param {RequestInit} init @param {Options} options */
  async #patient(path, init, options) {
    for (let attempt = 1; ; attempt += 1) {
      options.signal?.throwIfAborted();
      try {
        const answer = await this.#once(path, init, options);
        options.signal?.throwIfAborted();
        return answer;
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof Problem)) throw error;
        await this.#afterProblem(error, attempt, options);
      }
    }
  }

  /** @param {Problem} problem @param {number} attempt @param {Options} options */
  async #afterProblem(problem, attempt, options) {
    if (problem.status === 401) return this.#newKey();
    if (problem.wait === null || (attempt >= ATTEMPTS && problem.type !== "offline")) throw problem;
    const seconds = Math.min(LONGEST_WAIT, problem.type === "offline" ? 2 ** Math.min(attempt, 4) : problem.wait);
    options.onWait?.(problem, seconds);
    return sleep(seconds, options.signal);
  }

  /** Asks once for all requests that wait for a key. */
  #newKey() {
    this.asking ??= this.askKey(readKey() !== "").then(writeKey).finally(() => { this.asking = null; });
    return this.asking;
  }

  /** @param {string} path @param {RequestInit} init @param {Options} options */
  async #once(path, init, options) {
    const key = readKey();
    const headers = { ...init.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
    const signal = options.cancel ? options.signal : undefined;
    const response = await fetch(path, { ...init, headers, signal, credentials: "omit" }).catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Problem({ type: "offline", status: 0, wait: 1 });
    });
    if (!response.ok) throw await problemOf(response);
    return response.json();
  }
}

/** @param {Response} response */
async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  const type = String(body.type ?? "").replace(/^urn:gonie:/, "") || "other";
  const told = Number(response.headers.get("Retry-After") ?? "1");
  const wait = [429, 503].includes(response.status) ? (Number.isFinite(told) ? Math.max(told, 0.2) : 1) : null;
  return new Problem({ type, status: response.status, detail: body.detail ?? body.title ?? "", wait });
}

/** @param {number} seconds @param {AbortSignal} [signal] @returns {Promise<void>} */
function sleep(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(finish, seconds * 1000);
    addEventListener("online", finish);
    signal?.addEventListener("abort", finish);
    function finish() {
      clearTimeout(timer);
      removeEventListener("online", finish);
      signal?.removeEventListener("abort", finish);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}

function readKey() {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} key */
function writeKey(key) {
  try {
    sessionStorage.setItem(KEY, key);
  } catch { /* storage is off: the key is asked for again */ }
}

/** Returns whether requests carry an API key. */
export function hasKey() {
  return readKey() !== "";
}
