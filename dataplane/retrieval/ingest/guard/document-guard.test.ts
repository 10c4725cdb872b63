import { expect, test } from 'vitest';
import { type CheckOutcome, failedCheck } from '#checks/check-outcome';
import type { CheckClient } from '#checks/client';
import { createStorageGuard } from '#checks/guard/storage-guard';
import type { ServedTarget } from '#contracts/served-target';
import { createDocumentGuard } from './document-guard.ts';

const target: ServedTarget = {
  addresses: ['http://127.0.0.1:9'],
  policyId: 'p',
  policyRevision: '3',
  bundleDigest: 'a'.repeat(64),
  contentProfile: 'c',
  maxBodyBytes: 8_192,
  maxMessages: 8,
  deadlineMs: { request: 100, response: 200 },
  division: { allowed: true },
};
const scope = { tenant: 't', collectionId: 'c' };
const never = new AbortController().signal;

function decide(outcome: CheckOutcome, texts: readonly string[] = ['secret text']) {
  const asked: Parameters<CheckClient['check']>[] = [];
  const check: CheckClient['check'] = async (...given) => {
    asked.push(given);
    return outcome;
  };
  const guard = createDocumentGuard(createStorageGuard({ checks: { check }, target: () => target }));
  return { asked, decision: guard.check(scope, texts, never) };
}

test('a document is judged by the request section of the served policy, and its masked texts are returned', async () => {
  const { asked, decision } = decide({ kind: 'mask', contents: ['*'] });
  expect(await decision).toEqual({ kind: 'passed', texts: ['*'], policyRevision: 'p:3' });
  expect(asked[0]?.slice(0, 3)).toMatchObject([
    { digest: 'a'.repeat(64), deadlineMs: 100, maxBodyBytes: 8_192 },
    'request',
    [{ role: 'user', content: 'secret text' }],
  ]);
});

test('a denied document reports the revision that denied it', async () => {
  expect(await decide({ kind: 'deny' }).decision).toEqual({ kind: 'denied', policyRevision: 'p:3' });
});

test.each([
  'timeout',
  'network',
  'policy_unavailable',
  'overloaded',
  'internal',
  'no_address',
  'mask_mismatch',
] as const)('a check that fails with %s makes the guard unavailable', async (code) => {
  await expect(decide(failedCheck(code)).decision).rejects.toMatchObject({
    code: 'dependency_unavailable',
    dependency: 'guard',
  });
});

test.each(['match_limit', 'output_too_large', 'invalid_replacement'] as const)(
  'a check that fails with %s is a fault of the document, without its text',
  async (code) => {
    const failure = await decide(failedCheck(code)).decision.catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'DocumentFault' });
    expect(String(failure)).not.toContain('secret');
  },
);

test('a text that cannot be divided is a fault that names its position', async () => {
  const { decision } = decide({ kind: 'pass' }, ['a', 'x'.repeat(9_000)]);
  await expect(decision).rejects.toThrow('text 1 has no white space');
});
