import { expect, test } from 'vitest';
import { transitionEvents, type Watched } from './transition-events.ts';

const watched: readonly Watched[] = [
  { type: 'Accepted', status: 'False', as: { type: 'Warning', action: 'Accept' } },
  { type: 'Ready', status: 'True', of: 'X', reason: 'WorkloadReady', as: { type: 'Normal', action: 'Run' } },
];
const accepted = (status: 'True' | 'False', reason: string, message = 'm') => ({
  type: 'Accepted',
  status,
  reason,
  message,
});
const ready = (status: 'True' | 'False') => ({ type: 'Ready', status, reason: 'X', message: 'r' });
const conflict = { type: 'Warning', action: 'Accept', reason: 'AliasConflict', note: 'm' };

test.each([
  ['a condition that appears', undefined, [accepted('False', 'AliasConflict')], [conflict]],
  [
    'a condition that changes to the watched status',
    [accepted('True', 'Accepted')],
    [accepted('False', 'AliasConflict')],
    [conflict],
  ],
  ['another reason', [accepted('False', 'IdConflict')], [accepted('False', 'AliasConflict')], [conflict]],
  ['another message only', [accepted('False', 'AliasConflict', 'old')], [accepted('False', 'AliasConflict')], []],
  ['no change', [accepted('False', 'AliasConflict')], [accepted('False', 'AliasConflict')], []],
  [
    'a condition that leaves the watched status',
    [accepted('False', 'AliasConflict')],
    [accepted('True', 'Accepted')],
    [],
  ],
  ['a condition that is not watched', [], [{ ...accepted('False', 'X'), type: 'Other' }], []],
  ['a reason that is not watched', [], [{ ...ready('True'), reason: 'Y' }], []],
  ['no conditions', undefined, undefined, []],
  [
    'several, in the order of the table, each with its reason',
    [],
    [ready('True'), accepted('False', 'AliasConflict')],
    [conflict, { type: 'Normal', action: 'Run', reason: 'WorkloadReady', note: 'r' }],
  ],
])('events of condition changes: %s', (_what, before, after, events) =>
  expect(transitionEvents(before, after, watched)).toEqual(events),
);
