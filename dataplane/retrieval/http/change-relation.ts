import { success } from '#api/operation';
import { grantLimits, type Holder } from '#contracts/retrieval-grants';
import { RelationsModelError } from '#relations/relations-error';
import { giveRelation, takeRelation } from '../access/grants.ts';
import { invalidBody } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

type Change = { readonly holder: Holder; readonly relation: string; readonly object: string };

/** Gives or takes one relation and answers with what was asked for; the store has changed when the answer comes. */
export async function changeRelation(
  { service, caller }: RetrievalRequest,
  kind: 'give' | 'take',
  change: Change,
): Promise<RetrievalResponse> {
  const { holder, relation } = change;
  try {
    if (kind === 'take') {
      await takeRelation(service.relations, caller, change);
    } else if ((await giveRelation(service.relations, caller, change)) === 'too_many') {
      return invalidBody([{ path: [], message: `would be one more than the ${grantLimits.listed} that are allowed` }]);
    }
    return success({ relation, ...holder });
  } catch (error) {
    // Nothing was asked of the store: the name of the body does not fit into it.
    if (!(error instanceof RelationsModelError) || error.code !== 'bad_subject') throw error;
    return invalidBody([
      { path: [], message: 'names a holder that cannot be stored: it is too long, or the group itself' },
    ]);
  }
}
