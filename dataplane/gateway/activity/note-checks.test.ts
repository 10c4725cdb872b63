import { expect, test } from 'vitest';
import { failedCheck } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { RoutePin } from '../routes/pin-routes.ts';
import { decisionRecordOf, noteChecks } from './note-checks.ts';

const pin = {
  route: { spec: { alias: 'chat', guardrail: { mode: 'Policy', policyId: 'p-1', policyRevision: '3' } } },
} as RoutePin;
const ended = { requestId: 'r-1', time: new Date(0), client: undefined, pin, code: 'provider_unavailable' } as const;

test('the record of a failed check names the detector that did not judge, and no other record names a detector', async () => {
  const provider = { name: 'presidio', cause: 'name_not_found' } as const;
  const checks = noteChecks({
    check: () => Promise.resolve({ ...failedCheck('provider_unavailable'), rule: 'names', provider }),
  });
  await checks.check({} as CheckTarget, 'request', [], { signal: new AbortController().signal });
  const deciding = checks.deciding();
  expect(decisionRecordOf({ ...ended, outcome: 'check_failed', deciding })).toMatchObject({ rule: 'names', provider });
  expect(decisionRecordOf({ ...ended, outcome: 'denied', deciding })).not.toHaveProperty('provider');
});

test('an answer that is too long for a check is recorded as an answer without a verdict, and a refused request is not recorded', () => {
  const without = { ...ended, code: 'body_too_large', deciding: undefined };
  expect(decisionRecordOf({ ...without, outcome: 'answer_too_long' })).toMatchObject({
    outcome: 'check_failed',
    code: 'body_too_large',
  });
  expect(decisionRecordOf({ ...without, outcome: 'refused' })).toBeUndefined();
});
