import { expect, test } from 'vitest';
import { FileWriteError } from '#kit/files/write-atomic';
import { KubeError, kubeErrorCodes } from '#kube/client/kube-error';
import { BrokenError, consequenceOf, outcomeOfError } from './outcome.ts';

test.each([
  [{ kind: 'settled' }, { result: 'success', backoff: false }],
  [
    { kind: 'waiting', afterMs: 5 },
    { result: 'requeue_after', afterMs: 5, backoff: false },
  ],
  [{ kind: 'raced' }, { result: 'requeue', afterMs: 250, backoff: false }],
  [
    { kind: 'broken', reason: 'StorageFull', message: 'm' },
    { result: 'error', backoff: true, condition: { reason: 'StorageFull', message: 'm' } },
  ],
] as const)('after a reconcile pass that ends as %o, the queue does %o', (outcome, consequence) =>
  expect(consequenceOf(outcome)).toEqual(consequence),
);

const raced = ['conflict', 'precondition_failed', 'already_exists', 'not_found'];

test.each(kubeErrorCodes)('the code %s of the API server is a lost race or a technical fault', (code) => {
  const outcome = outcomeOfError(new KubeError(code, 'a text of the server about a secret'));
  expect(outcome.kind).toBe(raced.includes(code) ? 'raced' : 'broken');
  expect(JSON.stringify(outcome)).not.toContain('secret');
});

test('faults of files and adapters keep their reason; the text of an unexpected error is not reported', () => {
  expect(outcomeOfError(new FileWriteError('disk_full', '/some/path', undefined))).toMatchObject({
    reason: 'StorageFull',
  });
  expect(outcomeOfError(new FileWriteError('denied', '/some/path', undefined))).toMatchObject({
    reason: 'StorageDenied',
  });
  expect(outcomeOfError(new BrokenError('JudgeUnavailable', 'm'))).toEqual({
    kind: 'broken',
    reason: 'JudgeUnavailable',
    message: 'm',
  });
  expect(outcomeOfError(new TypeError('a text of a user'))).toEqual({
    kind: 'broken',
    reason: 'Unexpected',
    message: 'unexpected error; see the log of the operator',
  });
});
