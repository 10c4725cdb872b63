import { expect, test } from 'vitest';
import { absentSentence, activityTable, decisionSentence } from './activity-text.ts';

test('a request without a decision is reported as undecided only if every gateway replica answered', () => {
  expect(absentSentence('r-1', [])).toBe('no policy decided about the request r-1.');
  expect(absentSentence('r-1', ['gateway-2 does not answer.'])).toBe(
    'the decision about the request r-1 was not found. Decisions are missing: gateway-2 does not answer.',
  );
});

test('a failed check names the detector that did not judge, why, and what to do', () => {
  const decision = {
    time: '2026-01-01T00:00:00.000Z',
    requestId: 'r-1',
    model: 'chat',
    outcome: 'check_failed',
    stage: 'request',
    code: 'provider_unavailable',
    rule: 'names',
    provider: { name: 'presidio', cause: 'name_not_found' },
    policyId: 'p-1',
    revision: '3',
    replica: 'gateway-1',
  } as const;
  expect(activityTable([decision], () => 'guarded', false)).toContain(
    'check_failed (provider_unavailable, presidio: name_not_found)',
  );
  expect(decisionSentence(decision, 'guarded')).toBe(
    'the check failed at the stage request with provider_unavailable: rule names (policy guarded, revision 3, request r-1). ' +
      'The provider presidio of the rule names cannot be used: the name of its host cannot be resolved. To correct it, correct the endpoint in providers.yaml, or the DNS.',
  );
  const { provider: _, ...withoutProvider } = decision;
  expect(activityTable([withoutProvider], () => 'guarded', false)).toContain('check_failed (provider_unavailable) ');
});
