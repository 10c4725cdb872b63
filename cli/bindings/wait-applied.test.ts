import { expect, test } from 'vitest';
import { applicationOutcome } from '#resources/binding-state';
import type { Condition, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

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
  'the outcome is reported for an application that is %s, with and without a token',
  (_what, said, record, expected) => {
    for (const apply of [undefined, 'token']) {
      const outcome = applicationOutcome(bindingOf(said, record, apply));
      expect([outcome.kind, ...(outcome.kind === 'failed' ? [outcome.reason] : [])].join(' ')).toBe(expected);
    }
  },
);
