/** Whether a row precedes another row with the same score. */
type IsBefore = (row: number, other: number) => boolean;

/** Keeps the rows with the best scores: a heap whose root is the worst of them. */
export class BestRows {
  readonly #most: number;
  readonly #isBefore: IsBefore;
  readonly #rows: number[] = [];
  readonly #scores: number[] = [];

  constructor(most: number, isBefore: IsBefore) {
    this.#most = most;
    this.#isBefore = isBefore;
  }

  offer(row: number, score: number): void {
    if (this.#rows.length < this.#most) {
      this.#rows.push(row);
      this.#scores.push(score);
      this.#rise(this.#rows.length - 1);
      return;
    }
    const worst = this.#scores[0] as number;
    if (score < worst || (score === worst && !this.#isBefore(row, this.#rows[0] as number))) return;
    this.#rows[0] = row;
    this.#scores[0] = score;
    this.#sink();
  }

  /** The rows, best first. */
  sorted(): readonly { readonly row: number; readonly score: number }[] {
    return this.#rows
      .map((row, at) => ({ row, score: this.#scores[at] as number }))
      .sort((one, other) => other.score - one.score || (this.#isBefore(one.row, other.row) ? -1 : 1));
  }

  /** Whether the entry at one place is worse than the entry at another place. */
  #isWorse(one: number, other: number): boolean {
    const difference = (this.#scores[one] as number) - (this.#scores[other] as number);
    if (difference !== 0) return difference < 0;
    return this.#isBefore(this.#rows[other] as number, this.#rows[one] as number);
  }

  #swap(one: number, other: number): void {
    const row = this.#rows[one] as number;
    const score = this.#scores[one] as number;
    this.#rows[one] = this.#rows[other] as number;
    this.#scores[one] = this.#scores[other] as number;
    this.#rows[other] = row;
    this.#scores[other] = score;
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#rows.length && this.#isWorse(child, worst)) worst = child;
      }
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }
}
