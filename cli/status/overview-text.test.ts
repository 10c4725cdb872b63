import { expect, test } from 'vitest';
import type { OverviewModel } from '#contracts/overview';
import { overviewText } from './overview-text.ts';

const applied: OverviewModel = {
  name: 'guarded-echo',
  modelId: null,
  alias: 'echo',
  gateway: 'default',
  state: 'applied',
  wanted: { policy: 'guarded-chat', revision: 2 },
  policyId: null,
  serves: 'revision 2 of guarded-chat',
  servesRevision: '2',
  previous: null,
  replicas: [
    { name: 'gateway-0', state: 'loaded' },
    { name: 'gateway-1', state: 'stale' },
    { name: 'gateway-2', state: 'not_ready' },
  ],
  summary: 'ModelBinding guarded-echo is applied.',
  isWell: true,
  whatToDo: null,
  runbook: null,
  appliedBy: 'ann: a reason',
};

const open: OverviewModel = {
  ...applied,
  name: 'open',
  state: 'unguarded',
  wanted: null,
  serves: 'UNGUARDED',
  servesRevision: null,
  previous: null,
  replicas: [],
  summary: 'ModelBinding open is UNGUARDED.',
  isWell: false,
  appliedBy: null,
};

const cells = (text: string): readonly (readonly string[])[] =>
  text.split('\n').map((line) => line.trim().split(/ {2,}/));

test('status over the management API shows each model with the ready replicas that confirmed its route', () => {
  const text = overviewText({ mark: '', models: [applied, open], deletingPolicies: [] }, false);
  expect(cells(text)).toEqual([
    ['BINDING', 'ALIAS', 'POLICY', 'REVISION', 'STATE', 'SERVES', 'REPLICAS', 'WHY'],
    ['guarded-echo', 'echo', 'guarded-chat', '2', 'applied', '2', '1/2', '-'],
    ['open', 'echo', '-', '-', 'UNGUARDED', 'UNGUARDED', '0/0', 'ModelBinding open is UNGUARDED.'],
  ]);
});

test('status over the management API shows gateway and author with -o wide, and policies that are being deleted', () => {
  const text = overviewText({ mark: '', models: [applied], deletingPolicies: ['a', 'b'] }, true);
  expect(cells(text)).toEqual([
    ['BINDING', 'ALIAS', 'POLICY', 'REVISION', 'STATE', 'SERVES', 'REPLICAS', 'GATEWAY', 'APPLIED BY', 'WHY'],
    ['guarded-echo', 'echo', 'guarded-chat', '2', 'applied', '2', '1/2', 'default', 'ann: a reason', '-'],
    [''],
    ['Policies that are being deleted: a, b'],
  ]);
});

test('status over the management API reports that there is no binding', () => {
  expect(overviewText({ mark: '', models: [], deletingPolicies: [] }, false)).toBe('There is no binding.');
});
