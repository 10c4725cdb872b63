import { expect, test } from 'vitest';
import type { CheckUnit } from './check-unit.ts';
import { maskEdits } from './rewrite-body.ts';

const role = 'tool';
const at = (index: number) => ({ start: 10 * index, end: 10 * index + 3 });
const parts: readonly CheckUnit[] = Array.from({ length: 60_000 }, (_, index) => ({
  role,
  content: 'x',
  place: { kind: 'string', string: at(index) },
}));
/** Texts around the places where 1,000 parts each are joined. */
const joints: readonly CheckUnit[] = Array.from({ length: 60 }, () => ({
  role,
  content: 'x'.repeat(1_000),
  place: { kind: 'joint', parts },
}));
const masked = parts.map(() => '*');

test('masks of a result of 60,000 parts are applied to it with those of the places where the parts are joined', () => {
  const edits = maskEdits([...parts, ...joints], [...masked, ...joints.map(() => '*'.repeat(1_000))]);
  expect(edits).toMatchObject({ kind: 'edits' });
  expect(edits.kind === 'edits' && edits.edits.length).toBe(parts.length);
});

test('a mask of a joined text that does not follow from the masks of its parts is a deny', () => {
  const contents = [...masked, ...joints.map((_, index) => (index === 59 ? '?' : '*'.repeat(1_000)))];
  expect(maskEdits([...parts, ...joints], contents)).toEqual({ kind: 'unmaskable' });
  const twice = parts.slice(0, 2);
  const joint: CheckUnit = { role, content: 'xx', place: { kind: 'joint', parts: twice } };
  // The texts around joined parts have the same order as the parts of the body.
  expect(maskEdits([...twice, joint, joint], ['a', 'b', 'ab', 'ab'])).toMatchObject({ kind: 'edits' });
  expect(maskEdits([...twice, joint, joint], ['a', 'b', 'b', 'ab'])).toEqual({ kind: 'unmaskable' });
});

test('masks of a message of 60,000 parts are applied to its first part, and a mask of a seam alone is a deny', () => {
  const message: CheckUnit = {
    role,
    content: 'x x',
    place: { kind: 'parts', string: at(0), others: parts.slice(1).map((_, index) => at(index + 1)) },
  };
  const seams: readonly CheckUnit[] = parts.map(() => ({
    role,
    content: 'xx',
    place: { kind: 'seam', message: at(0) },
  }));
  const both = maskEdits([message, ...seams], ['*', ...seams.map(() => '*')]);
  expect(both.kind === 'edits' && both.edits.length).toBe(parts.length);
  expect(maskEdits([message, ...seams], ['x x', ...seams.map(() => '*')])).toEqual({ kind: 'unmaskable' });
});

test('a mask inside of a removed part needs no edit, and a text that two masks change differently is a deny', () => {
  const whole = { start: 10, end: 90 };
  const message: CheckUnit = {
    role,
    content: 'x x',
    place: { kind: 'parts', string: { start: 0, end: 5 }, others: [whole] },
  };
  const inside: CheckUnit = { role, content: 'x', place: { kind: 'string', string: { start: 20, end: 23 } } };
  const masks = maskEdits([message, inside], ['*', '*']);
  expect(masks.kind === 'edits' && masks.edits.map(({ start, end }) => [start, end])).toEqual([
    [0, 5],
    [10, 90],
  ]);
  expect(maskEdits([message, inside], ['x x', '*'])).toMatchObject({ kind: 'edits', edits: [{ start: 20, end: 23 }] });
  expect(maskEdits([inside, inside], ['*', '*'])).toMatchObject({ kind: 'edits', edits: [{ start: 20, end: 23 }] });
  expect(maskEdits([inside, inside], ['*', '?'])).toEqual({ kind: 'unmaskable' });
});
