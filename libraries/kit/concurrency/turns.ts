/** Longest work of a computation within one turn of the event loop, milliseconds. */
const sliceMs = 2;

/**
 * Shares the event loop among long computations: at most one of them continues in each turn, so that other requests
 * wait for one slice at most, however many computations run at the same time.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;
  #sliceEnd = 0;

  /** Whether the time slice of this turn is used up: the computation must then await `next`. */
  isOver(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  /** Resolves in a later turn with a new slice, in the order of the calls. */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sliceEnd = performance.now() + sliceMs;
      this.#waiting.shift()?.();
      this.#schedule();
    });
  }
}
