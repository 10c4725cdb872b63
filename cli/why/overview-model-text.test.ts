import { expect, test } from 'vitest';
import type { OverviewModel } from '#contracts/overview';
import { overviewModelText } from './overview-model-text.ts';

const well: OverviewModel = {
  name: 'guarded-echo',
  modelId: null,
  alias: 'guarded-echo',
  gateway: 'default',
  state: 'applied',
  wanted: { policy: 'guarded-chat', revision: 1 },
  policyId: null,
  serves: 'revision 1 of guarded-chat',
  servesRevision: '1',
  previous: null,
  replicas: [],
  summary: 'ModelBinding guarded-echo is applied.',
  isWell: true,
  whatToDo: null,
  runbook: null,
  appliedBy: null,
};

test('why over the management API omits an absent remedy and an absent author', () => {
  expect(overviewModelText(well)).toBe(
    'ModelBinding guarded-echo is applied.\nServed now: revision 1 of guarded-chat.\n\nNo gateway replica reports.',
  );
});

test('why over the management API shows cause, remedy, author and each replica', () => {
  const troubled: OverviewModel = {
    ...well,
    summary: 'The route was rejected.',
    isWell: false,
    whatToDo: 'Apply it again.',
    appliedBy: 'ann: a reason',
    replicas: [
      { name: 'gateway-0', state: 'loaded' },
      { name: 'gateway-one', state: 'not_ready' },
    ],
  };
  expect(overviewModelText(troubled).split('\n')).toEqual([
    'The route was rejected.',
    'What to do: Apply it again.',
    'Served now: revision 1 of guarded-chat.',
    'Applied by: ann: a reason',
    '',
    'Gateway replicas:',
    expect.stringMatching(/^ {2}gateway-0 +loaded$/),
    expect.stringMatching(/^ {2}gateway-one +not ready$/),
  ]);
});
