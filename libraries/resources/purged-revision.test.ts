import { expect, test } from 'vitest';
import type { ApplicationRecord } from './model-binding.ts';
import { forgettingCausesOf } from './purged-revision.ts';

const policyId = '01900000-0000-7000-8000-0000000000aa';
const bindingOf = (record: Partial<ApplicationRecord>) => ({
  metadata: { name: 'm' },
  status: {
    applications: [
      {
        operationId: '01900000-0000-7000-8000-000000000001',
        contentProfile: 'text.v1',
        outcome: 'Failed',
        time: '2026-01-01T00:00:00.000Z',
        policyId,
        policyRevision: 1,
        cause: 'quotes a rule',
        ...record,
      } as ApplicationRecord,
    ],
  },
});
const forgetting = (record: Partial<ApplicationRecord>) =>
  forgettingCausesOf(`${policyId}-1`, bindingOf(record) as Parameters<typeof forgettingCausesOf>[1]);

test('a cause about a purged revision is forgotten, whatever the clock of its operator says', () => {
  const annotation = { 'portcullis.dev/forget-causes': `${policyId}-1` };
  for (const time of ['2026-01-01T00:00:00.000Z', '9999-01-01T00:00:00.000Z']) {
    expect(forgetting({ time })).toEqual(annotation);
  }
});

test('the cause of another revision stays, and a binding without a cause is not changed', () => {
  expect(forgetting({ policyRevision: 2 })).toBeUndefined();
  const { cause: _cause, ...rest } = bindingOf({}).status.applications[0] as ApplicationRecord;
  const binding = { metadata: { name: 'm' }, status: { applications: [rest] } };
  expect(forgettingCausesOf(`${policyId}-1`, binding as Parameters<typeof forgettingCausesOf>[1])).toBeUndefined();
});
