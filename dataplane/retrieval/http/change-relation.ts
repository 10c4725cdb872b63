import { failure, success } from '#api/operation';
import { changeEntry } from '#audit/change-entry';
import { grantLimits, type Holder } from '#contracts/retrieval-grants';
import { RelationsModelError } from '#relations/relations-error';
import { nameLimits, type Tuple } from '#relations/tuple';
import { tupleTarget } from '../access/change-author.ts';
import { changeGrant } from '../access/grants.ts';
import { authorOfRequest } from './author-of-request.ts';
import { invalidBody } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Longest wait for other changes of this process, milliseconds. */
const waitMs = 10_000;

type Change = {
  readonly holder: Holder;
  readonly relation: string;
  readonly object: string;
  /** Asks the right of the caller again: it may have been revoked while the request waited for others. */
  readonly isPermitted: () => Promise<boolean>;
};

/**
 * Grants or revokes one relation and answers with the requested state; the store is changed before the response is
 * sent.
 */
export async function changeRelation(
  request: RetrievalRequest,
  action: 'grant' | 'revoke',
  change: Change,
): Promise<RetrievalResponse> {
  const { holder, relation } = change;
  const { service, caller } = request;
  const entryOf = (tuple: Tuple) => {
    const noted = { action: `relation.${action}`, target: tupleTarget(tuple) } as const;
    return changeEntry(noted, authorOfRequest(request), service.clock.date());
  };
  const release = await service.creations.acquire(AbortSignal.timeout(waitMs));
  try {
    const outcome = await changeGrant(service.relationChanges, caller, { ...change, action, entryOf });
    if (outcome === 'forbidden') return failure('forbidden');
    if (outcome === 'too_many') {
      return invalidBody([{ path: [], message: `would be one more than the ${grantLimits.listed} that are allowed` }]);
    }
    return success({ relation, ...holder });
  } catch (error) {
    // No request was sent to the store: it does not accept the name in the body.
    if (!(error instanceof RelationsModelError) || error.code !== 'bad_subject') throw error;
    return invalidBody([refusalOf(holder)]);
  } finally {
    release();
  }
}

/** Names of groups of any length can be stored, so that only names of users and agents can be too long. */
function refusalOf({ user_id, group }: Holder): { readonly path: readonly string[]; readonly message: string } {
  if (group !== undefined) return { path: ['group'], message: 'must not be the group that it becomes a member of' };
  return {
    path: [user_id === undefined ? 'agent_id' : 'user_id'],
    message: `is too long to be stored: with its issuer and percent-encoded it must have at most ${nameLimits.subject} characters`,
  };
}
