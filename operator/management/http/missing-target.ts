import { failure } from '#api/operation';
import type { CommandTarget } from '../operations/command-record.ts';
import { findPolicy } from '../policies/find-policy.ts';
import type { Management, ManagementError } from './management.ts';

/** The errors of `missingTarget`. */
export const missingTargets = ['policy_not_found', 'model_not_found'] as const;

/** The error for a rule or window about a policy or model that does not exist, because it would have no effect. */
export async function missingTarget(
  { client, caches, models }: Pick<Management, 'client' | 'caches' | 'models'>,
  { type, id }: CommandTarget,
): Promise<ManagementError | undefined> {
  if (type === 'policy') {
    return (await findPolicy(client, caches, id)) === undefined ? failure('policy_not_found') : undefined;
  }
  return (await models.find(id)) === undefined ? failure('model_not_found') : undefined;
}
