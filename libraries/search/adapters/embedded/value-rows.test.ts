import { expect, test } from 'vitest';
import { Turns } from '#kit/concurrency/turns';
import type { AttributeCondition } from '../../condition.ts';
import { entryOf } from '../../testing/generated-entries.ts';
import { PartitionRows } from './partition-rows.ts';
import { ValueRows } from './value-rows.ts';
import { VectorMemory } from './vector-memory.ts';

/** Gives way at every occasion, and counts them. */
class WatchedTurns extends Turns {
  taken = 0;
  onNext: () => void = () => undefined;

  override isOver(): boolean {
    return true;
  }

  override next(): Promise<void> {
    this.taken += 1;
    this.onNext();
    return super.next();
  }
}

const contains = (value: string): AttributeCondition => ({ path: 'name', op: 'contains', value });

function valueRows(count: number): ValueRows {
  const values = new ValueRows();
  for (let at = 0; at < count; at += 1) {
    values.add({ group: `g${at}`, labels: [], attributes: { kind: 'a', name: `name ${at}` } });
  }
  return values;
}

test('two first queries at the same time both know the attributes of every row', async () => {
  const values = valueRows(500);
  const turns = new WatchedTurns();
  const query = async () => {
    await values.prepare(turns);
    const flags = await values.select({ path: 'kind', op: 'eq', value: 'a' }, 500, turns);
    return flags.reduce((sum, flag) => sum + flag, 0);
  };
  expect(await Promise.all([query(), query()])).toEqual([500, 500]);
});

test('a condition of 128 parts on many values is evaluated in slices', async () => {
  const values = valueRows(2_000);
  await values.prepare(new Turns());
  const turns = new WatchedTurns();
  const condition = { or: Array.from({ length: 127 }, (_, at) => contains(`absent ${at}`)) };
  expect((await values.select(condition, 2_000, turns)).includes(1)).toBe(false);
  expect(turns.taken).toBeGreaterThanOrEqual(127 * Math.floor(2_000 / 256));
});

test('an entry that is replaced while a condition is evaluated is found with its previous values', async () => {
  const rows = new PartitionRows(new VectorMemory());
  for (const id of ['one', 'two']) rows.apply({ kind: 'put', entry: { ...entryOf(id), attributes: { name: id } } });
  const turns = new WatchedTurns();
  await rows.visible('every', contains('o'), turns);
  turns.onNext = () => {
    turns.onNext = () => undefined;
    rows.apply({ kind: 'put', entry: { ...entryOf('one'), attributes: { name: 'other' } } });
  };
  const { flags, count } = await rows.visible('every', { not: contains('z') }, turns);
  expect([...flags]).toEqual([1, 1]);
  expect(count).toBe(2);
});
