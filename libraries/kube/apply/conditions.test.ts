import { expect, test } from 'vitest';
import { findCondition, setCondition } from './conditions.ts';

const first = new Date('2026-01-01T00:00:00.123Z');
const later = new Date('2026-01-02T00:00:00.456Z');
const ready = { type: 'Ready', status: 'True', reason: 'Done', message: 'It is.', observedGeneration: 1 } as const;

test('a new condition has its time in whole seconds', () => {
  const list = setCondition(undefined, ready, first);
  expect(list).toEqual([{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }]);
  expect(findCondition(list, 'Ready')).toBe(list[0]);
  expect(findCondition(list, 'Other')).toBeUndefined();
});

test('setting an unchanged condition returns the same list', () => {
  const list = setCondition([], ready, first);
  expect(setCondition(list, ready, later)).toBe(list);
});

test.each([{ reason: 'Again' }, { message: 'Still.' }, { observedGeneration: 2 }])(
  'a condition keeps its transition time when its status stays the same: %j',
  (change) => {
    const list = setCondition(setCondition([], ready, first), { ...ready, ...change }, later);
    expect(list).toEqual([{ ...ready, ...change, lastTransitionTime: '2026-01-01T00:00:00Z' }]);
  },
);

test('a condition changes its time with its status, and the list keeps its order', () => {
  const other = { ...ready, type: 'Accepted' } as const;
  const list = setCondition(
    setCondition(setCondition([], other, first), ready, first),
    { ...other, status: 'False' },
    later,
  );
  expect(list.map((one) => [one.type, one.status, one.lastTransitionTime])).toEqual([
    ['Accepted', 'False', '2026-01-02T00:00:00Z'],
    ['Ready', 'True', '2026-01-01T00:00:00Z'],
  ]);
});
