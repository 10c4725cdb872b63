import type { KnownRevision } from '../caches/known-revision.ts';
import { failedWith, type OperationEnd, type WrittenGeneration } from './command-record.ts';

/**
 * How an operation on a policy ended, from all recorded revisions of the policy; undefined while its generation can
 * still be recorded. The result of the operation is the revision with its token, UID and generation.
 * @param live the current object; undefined if it was deleted
 */
export function decidePolicyEnd(
  operation: { readonly policyId: string; readonly token: string; readonly written: WrittenGeneration },
  revisions: readonly Pick<KnownRevision, 'number' | 'token' | 'policy'>[],
  live: { readonly uid: string; readonly generation: number } | undefined,
): OperationEnd | undefined {
  const { policyId, token, written } = operation;
  const own = revisions.find(
    (revision) =>
      revision.token === token &&
      revision.policy.uid === written.uid &&
      revision.policy.generation === written.generation,
  );
  if (own !== undefined) return { kind: 'succeeded', result: { policyId, revision: own.number } };
  const isPassed = revisions.some(
    ({ policy }) => policy.uid === written.uid && policy.generation >= written.generation,
  );
  if (isPassed) return failedWith('revision_lost');
  if (live === undefined) return undefined;
  const isOlder = live.uid !== written.uid || live.generation < written.generation;
  return isOlder ? failedWith('lost_in_restore') : undefined;
}
