import { bytesPerValue } from '../chat/text-bounds.ts';
import type { RequestBytes } from './held-frames.ts';

type FirstRead<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'waiting'; readonly taken: boolean | Promise<boolean>; readonly bytes: number };

/**
 * The memory of the values that are read from the JSON of a request or an answer, as a part of the budget
 * (docs/design/held-bytes.md). The caller disposes this object when it no longer keeps any of these values.
 */
export class HeldTree implements Disposable {
  readonly #bytes: RequestBytes;
  #taken = 0;

  constructor(bytes: RequestBytes) {
    this.#bytes = bytes;
  }

  /**
   * Calls `read`, and reserves `bytesPerValue` for each value of its result. If other requests hold these bytes, the
   * result is dropped, and `read` is called again when the bytes are free.
   * @param valuesOf the values of a result
   * @returns undefined when the bytes are not free in time
   */
  async read<T>(read: () => T, valuesOf: (result: T) => number): Promise<{ readonly value: T } | undefined> {
    const first = this.#readFirst(read, valuesOf);
    if (first.kind === 'read') return { value: first.value };
    if (!(await first.taken)) return undefined;
    this.#taken += first.bytes;
    return { value: read() };
  }

  #readFirst<T>(read: () => T, valuesOf: (result: T) => number): FirstRead<T> {
    const value = read();
    const bytes = valuesOf(value) * bytesPerValue;
    const taken = bytes === 0 || this.#bytes.take(bytes);
    if (taken !== true) return { kind: 'waiting', taken, bytes };
    this.#taken += bytes;
    return { kind: 'read', value };
  }

  [Symbol.dispose](): void {
    this.#bytes.release(this.#taken);
    this.#taken = 0;
  }
}
