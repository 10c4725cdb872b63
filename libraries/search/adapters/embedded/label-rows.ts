import { ownString } from '../../own-string.ts';

type Label = { readonly text: string; readonly place: number; readonly rows: number[] };

/** How many labels a search compares before it looks a label up: the labels of one entry and of the next entry. */
const lookAhead = 4;

/** Rows by their labels. */
export class LabelRows {
  readonly #labels = new Map<string, Label>();
  /** The labels in the order in which they were first seen. */
  readonly #inOrder: Label[] = [];
  /** Row numbers held, for the estimate of memory. */
  size = 0;

  /** Adds a row with its labels. */
  add(labels: readonly string[], row: number): void {
    for (const text of new Set(labels)) {
      this.#labelOf(text).rows.push(row);
      this.size += 1;
    }
  }

  /**
   * Sets the flag of each row that has one of the labels. Entries are loaded in the order of their ids, and a caller
   * with many rights names labels in that order: the next label is mostly near the previous one, and comparing two
   * texts takes a tenth of the time of a look-up, which has to hash a text that is new in each request.
   */
  raise(labels: readonly string[], flags: Uint8Array): void {
    let place = 0;
    for (const text of labels) {
      const label = this.#near(text, place) ?? this.#labels.get(text);
      if (label === undefined) continue;
      for (const row of label.rows) flags[row] = 1;
      place = label.place + 1;
    }
  }

  #near(text: string, from: number): Label | undefined {
    const end = Math.min(from + lookAhead, this.#inOrder.length);
    for (let place = from; place < end; place += 1) {
      const label = this.#inOrder[place];
      if (label?.text === text) return label;
    }
    return undefined;
  }

  #labelOf(text: string): Label {
    const known = this.#labels.get(text);
    if (known !== undefined) return known;
    const label = { text: ownString(text), place: this.#inOrder.length, rows: [] };
    this.#labels.set(label.text, label);
    this.#inOrder.push(label);
    return label;
  }
}
