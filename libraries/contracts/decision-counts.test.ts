import { expect, test } from 'vitest';
import { joinCounts, readReplicaCounts } from './decision-counts.ts';

const none = { passed: 0, masked: 0, denied: 0, check_failed: 0 };
const [first, second] = ['2026-01-01T12:00:00.000Z', '2026-01-01T12:01:00.000Z'];

test('the counts of replicas are added up for each minute and alias, oldest first', () => {
  const parts = [
    readReplicaCounts('one', {
      status: 200,
      value: {
        items: [
          { ...none, time: second, model: 'a', passed: 1 },
          { ...none, time: first, model: 'b', denied: 4 },
        ],
      },
    }),
    readReplicaCounts('two', {
      status: 200,
      value: { items: [{ ...none, time: second, model: 'a', passed: 2, masked: 3 }] },
    }),
  ];
  expect(joinCounts(parts)).toEqual({
    items: [
      { ...none, time: first, model: 'b', denied: 4 },
      { ...none, time: second, model: 'a', passed: 3, masked: 3 },
    ],
    missing: [],
  });
});

test.each([
  ['no answer', {}, 'does not answer'],
  ['status 500', { status: 500 }, 'answered with status 500'],
  [
    'another shape',
    { status: 200, value: { items: [{ model: 'a' }] } },
    'sent decisions in a format of another release',
  ],
])('a replica with %s is named as missing', (_name, answer, reason) => {
  expect(readReplicaCounts('one', answer)).toEqual({ items: [], missing: [{ replica: 'one', reason }] });
});
