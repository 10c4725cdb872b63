import { expect, test } from 'vitest';
import { LabelRows } from './label-rows.ts';

/** Labels of rows as the catalogue has them: some entries have a second label. */
const labelled = Array.from({ length: 200 }, (_one, row) => {
  const id = `id-${String(row).padStart(3, '0')}`;
  return row % 3 === 0 ? [id] : [id, `a2a/${id}`];
});

function open(): LabelRows {
  const rows = new LabelRows();
  for (const [row, labels] of labelled.entries()) rows.add([...labels, 'shared', 'shared'], row);
  return rows;
}

function raised(rows: LabelRows, labels: readonly string[]): readonly number[] {
  const flags = new Uint8Array(labelled.length);
  rows.raise(labels, flags);
  return [...flags.keys()].filter((row) => flags[row] === 1);
}

/** The rows with one of the labels, found by checking each row. */
function expected(labels: readonly string[]): readonly number[] {
  return [...labelled.keys()].filter((row) => [...(labelled[row] ?? []), 'shared'].some((one) => labels.includes(one)));
}

test('the rows of labels are found in any order, with unknown and repeated labels between them', () => {
  const rows = open();
  const all = labelled.flat();
  const ids = labelled.map(([id = '']) => id);
  const lists = [
    [],
    ['unknown'],
    ['shared'],
    ids,
    ids.toReversed(),
    all,
    all.filter((label) => label.startsWith('a2a/')),
    ids.filter((_id, at) => at % 7 === 0),
    ids.filter((_id, at) => at % 2 === 0).flatMap((id) => [id, id]),
    ids.flatMap((id, at) => (at % 5 === 0 ? [`${id}-unknown`, id] : at % 5 < 3 ? [id] : [])),
    [...ids.slice(-3), ...ids.slice(0, 3), 'unknown'],
  ];
  for (const labels of lists) expect(raised(rows, labels)).toEqual(expected(labels));
});

test('a row that is added later to a known label is found, and a row with a new label is found only by that label', () => {
  const rows = new LabelRows();
  rows.add(['a', 'b'], 0);
  rows.add(['c'], 1);
  rows.add(['a', 'd'], 2);
  expect(raised(rows, ['a'])).toEqual([0, 2]);
  expect(raised(rows, ['b', 'c', 'd'])).toEqual([0, 1, 2]);
  expect(raised(rows, ['d'])).toEqual([2]);
  expect(rows.size).toBe(5);
});
