type Entry = 'added' | 'repeated' | 'full' | 'too_late';

/**
 * Ids of tokens that were accepted, each kept until its token can no longer be valid. A full store refuses new ids
 * instead of dropping old ones, because a dropped id could be accepted again.
 */
export class UsedTokenIds {
  readonly #capacity: number;
  readonly #ends = new Map<string, number>();
  readonly #endingAt = new Map<number, string[]>();
  /** Ids that end at or before this second are dropped. */
  #droppedUntil = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Adds an id that is kept until the second `end`. `too_late` if ids of that second were already dropped, which
   * happens when the time of day was set back: a dropped id cannot be distinguished from a new one.
   */
  add(id: string, end: number, nowSeconds: number): Entry {
    this.#drop(nowSeconds);
    if (end <= this.#droppedUntil) return 'too_late';
    if (this.#ends.has(id)) return 'repeated';
    if (this.#ends.size >= this.#capacity) return 'full';
    this.#ends.set(id, end);
    const beside = this.#endingAt.get(end);
    if (beside === undefined) this.#endingAt.set(end, [id]);
    else beside.push(id);
    return 'added';
  }

  get size(): number {
    return this.#ends.size;
  }

  #drop(nowSeconds: number): void {
    const until = Math.floor(nowSeconds);
    if (until <= this.#droppedUntil) return;
    this.#droppedUntil = until;
    for (const [end, ids] of this.#endingAt) {
      if (end > until) continue;
      for (const id of ids) this.#ends.delete(id);
      this.#endingAt.delete(end);
    }
  }
}
