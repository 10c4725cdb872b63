import type { Turns } from '#kit/concurrency/turns';
import { type AttributeCondition, type Comparison, valueFulfils, valuesAt } from '../../condition.ts';
import { ownString } from '../../own-string.ts';
import type { AttributeValue, EntryScope } from '../../ports.ts';
import { keepBoth, keepEither, opposite } from '../../row-flags.ts';

type RowsOfValue = Map<AttributeValue, number[]>;

/**
 * Rows by the values of their attributes, from which a condition selects rows without checking each row. Attributes are
 * read when a condition first needs them, because many partitions are never searched with a condition.
 */
export class ValueRows {
  readonly #paths = new Map<string, RowsOfValue>();
  /** Scopes of the rows from `#through` on, whose attributes are not read yet. */
  #waiting: EntryScope[] = [];
  #through = 0;
  #preparing: Promise<void> | undefined;
  /** Row numbers held, for the estimate of memory. */
  size = 0;

  /** Adds the next row. */
  add(scope: EntryScope): void {
    this.#waiting.push(scope);
  }

  /**
   * Reads the attributes of all rows, so that `select` has them, and waits for a reading that another query began. Rows
   * that are added later need another call.
   */
  async prepare(turns: Turns): Promise<void> {
    while (!this.isRead) {
      this.#preparing ??= this.#read(turns).finally(() => {
        this.#preparing = undefined;
      });
      await this.#preparing;
    }
  }

  async #read(turns: Turns): Promise<void> {
    const scopes = this.#waiting;
    this.#waiting = [];
    let before: EntryScope | undefined;
    let lists: readonly number[][] = [];
    for (const scope of scopes) {
      // The chunks of a document share their attributes.
      if (scope !== before) lists = this.#listsOf(scope.attributes);
      before = scope;
      for (const rows of lists) rows.push(this.#through);
      this.size += lists.length;
      this.#through += 1;
      if (turns.isOver()) await turns.next();
    }
  }

  /** The lists of rows that a row with these attributes belongs to. */
  #listsOf(attributes: EntryScope['attributes']): readonly number[][] {
    const lists: number[][] = [];
    for (const path of Object.keys(attributes)) {
      let values = this.#paths.get(path);
      if (values === undefined) {
        values = new Map();
        this.#paths.set(ownString(path), values);
      }
      for (const value of new Set(valuesAt(attributes, path))) {
        let rows = values.get(value);
        if (rows === undefined) {
          rows = [];
          values.set(typeof value === 'string' ? ownString(value) : value, rows);
        }
        lists.push(rows);
      }
    }
    return lists;
  }

  /** Whether all rows have been read for `select`. */
  get isRead(): boolean {
    return this.#waiting.length === 0 && this.#preparing === undefined;
  }

  /**
   * One flag for each of the first `count` rows: 1 if the row fulfils the condition. These rows must have been read.
   * Rows that are added meanwhile are ignored.
   */
  async select(condition: AttributeCondition, count: number, turns: Turns): Promise<Uint8Array> {
    if ('and' in condition) {
      const flags = new Uint8Array(count).fill(1);
      for (const part of condition.and) keepBoth(flags, await this.select(part, count, turns));
      return flags;
    }
    if ('or' in condition) {
      const flags = new Uint8Array(count);
      for (const part of condition.or) keepEither(flags, await this.select(part, count, turns));
      return flags;
    }
    if (turns.isOver()) await turns.next();
    if ('not' in condition) return opposite(await this.select(condition.not, count, turns));
    if (condition.op === 'ne') return opposite(await this.#compare({ ...condition, op: 'eq' }, count, turns));
    return this.#compare(condition, count, turns);
  }

  async #compare(comparison: Exclude<Comparison, { op: 'ne' }>, count: number, turns: Turns): Promise<Uint8Array> {
    const flags = new Uint8Array(count);
    const values = this.#paths.get(comparison.path);
    if (values === undefined) return flags;
    const named = comparison.op === 'eq' ? [comparison.value] : comparison.op === 'in' ? comparison.value : undefined;
    if (named !== undefined) {
      for (const value of named) raise(flags, values.get(value));
      return flags;
    }
    let compared = 0;
    for (const [value, rows] of values) {
      if (valueFulfils(value, comparison)) raise(flags, rows);
      compared += 1;
      if (compared % valuesOfSlice === 0 && turns.isOver()) await turns.next();
    }
    return flags;
  }
}

/** Values that are compared between two checks of the clock. */
const valuesOfSlice = 256;

function raise(flags: Uint8Array, rows: readonly number[] | undefined): void {
  if (rows === undefined) return;
  for (const row of rows) flags[row] = 1;
}
