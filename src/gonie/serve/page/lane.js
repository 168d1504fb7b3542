// Runs jobs one at a time. While one runs, only the newest of the others waits.

/** @typedef {(signal: AbortSignal) => Promise<void>} Job */

export class Lane {
  /**
   * @param {(error: unknown) => void} onError called for errors of jobs that are not stale
   * @param {(busy: boolean) => void} onBusy
   */
  constructor(onError, onBusy) {
    this.onError = onError;
    this.onBusy = onBusy;
    /** @type {Job | null} */
    this.next = null;
    this.due = false;
    this.running = false;
    this.timer = 0;
    this.control = new AbortController();
  }

  /** Replaces the waiting job, and marks the running one as stale. @param {Job} job @param {number} delay ms */
  ask(job, delay) {
    this.next = job;
    this.control.abort();
    clearTimeout(this.timer);
    this.due = false;
    this.onBusy(true);
    this.timer = setTimeout(() => {
      this.due = true;
      this.#run();
    }, delay);
  }

  async #run() {
    if (this.running) return;
    while (this.due && this.next) {
      const job = this.next;
      this.next = null;
      this.running = true;
      this.control = new AbortController();
      const { signal } = this.control;
      await job(signal).catch((error) => signal.aborted || this.onError(error));
      this.running = false;
    }
    if (!this.next) this.onBusy(false);
  }
}
