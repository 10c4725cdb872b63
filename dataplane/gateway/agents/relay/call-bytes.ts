import type { ByteBudget, TakenBytes } from '#kit/http/byte-budget';
import type { RequestBytes } from '../../relay/held-frames.ts';

/**
 * The bytes of one call in the budget of the gateway (docs/design/held-bytes.md). A call that holds no bytes is not
 * listed in the budget, so that a long stream reserves nothing.
 */
export class CallBytes implements RequestBytes, Disposable {
  readonly #budget: ByteBudget;
  readonly #caller: string;
  #place: TakenBytes | undefined;
  /** Bytes that the call holds or waits for. */
  #asked = 0;
  #isOver = false;

  /** @param caller whose calls together hold a bounded part of the budget */
  constructor(budget: ByteBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  take(bytes: number): boolean | Promise<boolean> {
    if (this.#isOver) return false;
    this.#place ??= this.#open();
    this.#asked += bytes;
    const taken = this.#place.take(bytes);
    if (typeof taken === 'boolean') return this.#took(bytes, taken);
    return taken.then((isTaken) => this.#took(bytes, isTaken));
  }

  release(bytes: number): void {
    this.#place?.release(bytes);
    this.#forget(bytes);
  }

  /** States that the call takes no more bytes: the bytes that it holds stay counted until it is disposed. */
  settle(): void {
    this.#isOver = true;
    this.#place?.settle();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#place?.[Symbol.dispose]();
    this.#place = undefined;
  }

  #open(): TakenBytes {
    const place = this.#budget.open();
    place.countFor(this.#caller);
    return place;
  }

  #took(bytes: number, isTaken: boolean): boolean {
    if (!isTaken) this.#forget(bytes);
    return isTaken;
  }

  #forget(bytes: number): void {
    this.#asked = Math.max(0, this.#asked - bytes);
    if (this.#asked > 0) return;
    this.#place?.[Symbol.dispose]();
    this.#place = undefined;
  }
}
