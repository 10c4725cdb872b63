import { expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import { applicationOutcome } from '#resources/binding-state';
import type { Condition, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { waitProgressOn } from '../output/format.ts';
import { waitApplied } from './wait-applied.ts';

type Said = readonly [status: Condition['status'], reason: string, observedGeneration?: number];
type Records = NonNullable<NonNullable<ModelBinding['status']>['applications']>;

function bindingOf(said: Said, record: Partial<Records[number]> | undefined, apply?: string): Stored<ModelBinding> {
  const [status, reason, observedGeneration = 2] = said;
  const operationId = apply ?? '';
  const common = { contentProfile: 'p', policyRevision: 1, outcome: 'Failed', time: '' } as const;
  const condition = (type: string): Condition => ({
    type,
    status,
    reason,
    observedGeneration,
    message: `${type}: ${reason}`,
    lastTransitionTime: '',
  });
  const applications = record === undefined ? [] : [{ operationId, ...common, ...record }];
  return {
    metadata: { name: 'chat', generation: 2 },
    spec: apply === undefined ? {} : { apply },
    status: { conditions: [condition('Ready'), condition('Applied')], applications },
  } as unknown as Stored<ModelBinding>;
}

const generationId = 'g';
const late = { reason: 'progress_deadline_exceeded', generationId } as const;
const rows: readonly (readonly [string, Said, Partial<Records[number]> | undefined, string])[] = [
  ['applied', ['True', 'Applied'], { outcome: 'Applied', generationId }, 'applied'],
  ['applied after a failure', ['True', 'Applied'], { reason: 'provider_unknown' }, 'applied'],
  ['failed', ['False', 'BundleInvalid'], { reason: 'bundle_invalid' }, 'failed bundle_invalid'],
  [
    'failed because a provider is missing',
    ['False', 'ProviderUnknown'],
    { reason: 'provider_unknown' },
    'failed provider_unknown',
  ],
  ['retried because the provider was approved', ['Unknown', 'Pending'], { reason: 'provider_unknown' }, 'pending'],
  [
    'waiting for replicas after that retry',
    ['Unknown', 'WaitingForReplicas'],
    { reason: 'provider_unknown' },
    'pending',
  ],
  ['past its deadline', ['Unknown', 'ProgressDeadlineExceeded'], late, 'failed progress_deadline_exceeded'],
  ['not processed yet', ['False', 'BundleInvalid', 1], undefined, 'pending'],
];

test.each(rows)(
  '--wait reports the state of an application that is %s, whether it has an apply token or not',
  (_what, said, record, expected) => {
    for (const apply of [undefined, 'token']) {
      const outcome = applicationOutcome(bindingOf(said, record, apply));
      expect([outcome.kind, ...(outcome.kind === 'failed' ? [outcome.reason] : [])].join(' ')).toBe(expected);
    }
  },
);

test('a wait names each state once and ends when the binding is applied', async () => {
  const states = [
    bindingOf(['Unknown', 'Starting'], undefined),
    bindingOf(['Unknown', 'Starting'], undefined),
    bindingOf(['Unknown', 'WaitingForReplicas'], undefined),
    bindingOf(['True', 'Applied'], { outcome: 'Applied', generationId }),
  ];
  const written = states[0] as Stored<ModelBinding>;
  const client = { get: async () => states.shift() } as unknown as KubeClient;
  const said: string[] = [];
  await waitApplied(client, written, 60, (sentence) => said.push(sentence));
  expect(said).toEqual(['ModelBinding chat: Ready: Starting', 'ModelBinding chat: Ready: WaitingForReplicas']);
});

test('a wait continues while the operator may not have read a provider that was just approved, and then ends', async () => {
  const unknown = bindingOf(['False', 'ProviderUnknown'], { reason: 'provider_unknown' });
  const states = [unknown, unknown, bindingOf(['True', 'Applied'], { outcome: 'Applied', generationId })];
  const client = { get: async () => states.shift() ?? unknown } as unknown as KubeClient;
  const said: string[] = [];
  await waitApplied(client, unknown, 60, (sentence) => said.push(sentence));
  expect(said).toEqual([]);
  await expect(waitApplied(client, unknown, 60)).rejects.toThrow('was not applied (provider_unknown)');
});

test('a wait that is shorter than the read of providers ends with the refusal and not with a timeout', async () => {
  const unknown = bindingOf(['False', 'ProviderUnknown'], { reason: 'provider_unknown' });
  const client = { get: async () => unknown } as unknown as KubeClient;
  await expect(waitApplied(client, unknown, 1)).rejects.toMatchObject({ exit: 'refused' });
});

test.each([
  ['a terminal', true, 'text', ['step\n']],
  ['a file or pipe', false, 'text', []],
  ['a terminal, with a result for programs', true, 'json', []],
] as const)('the progress of a wait on %s is written as lines or left out', (_name, isTTY, format, lines) => {
  const written: string[] = [];
  waitProgressOn({ isTTY, write: (text: unknown) => written.push(String(text)) > 0 } as never, format)('step');
  expect(written).toEqual(lines);
});
