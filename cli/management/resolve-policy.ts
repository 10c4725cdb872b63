import type { PolicySummary } from '#contracts/management';
import { CliError } from '../errors/cli-error.ts';
import type { ManagementClient } from './client.ts';
import { allPolicies } from './walk-pages.ts';

const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Whether a word is an id of the management API: a UUID of version 7. */
export function isId(word: string): boolean {
  return idForm.test(word);
}

/**
 * The id of a policy given by id or name. Names are not unique: a name of two policies is an error.
 * @throws CliError not_found, usage
 */
export async function resolvePolicy(client: ManagementClient, word: string): Promise<string> {
  if (isId(word)) return word.toLowerCase();
  const found: PolicySummary[] = [];
  for await (const policy of allPolicies(client)) if (policy.name === word) found.push(policy);
  const [only, ...others] = found;
  if (only === undefined) throw new CliError('not_found', `There is no policy named ${JSON.stringify(word)}.`);
  if (others.length === 0) return only.id;
  const ids = found.map(({ id }) => id).join(', ');
  throw new CliError(
    'usage',
    `${found.length} policies are named ${JSON.stringify(word)}: give one of the ids ${ids}.`,
  );
}
