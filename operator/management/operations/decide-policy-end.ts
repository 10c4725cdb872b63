import type { KnownRevision } from '../policies/policy-view.ts';
import { failedWith, type OperationEnd, type Written } from './operation.ts';

/**
 * How an operation on a policy ended, from every recorded revision of its policy; undefined while its generation can
 * still be recorded. A revision is its result only by token, UID and generation (DESIGN section 5).
 * @param live the object as it is; undefined where it is gone
 */
export function decidePolicyEnd(
  operation: { readonly policyId: string; readonly token: string; readonly written: Written },
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
