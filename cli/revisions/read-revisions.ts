import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { isPurged } from '#resources/purged-revision';
import { policyNameHash, policyNameLabel } from '#resources/revision-labels';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { nameRemedy } from '../resources/absent-resource.ts';

/**
 * The revisions of a policy name, newest first. The policy itself may be deleted. @param transform returns the part of
 * each revision to keep, page by page @throws CliError not_found if the policy has no revision
 */
export async function readRevisions(
  client: KubeClient,
  policy: string,
  transform?: (revision: Stored<PolicyRevision>) => Stored<PolicyRevision>,
): Promise<readonly [Stored<PolicyRevision>, ...Stored<PolicyRevision>[]]> {
  const labelSelector = `${policyNameLabel}=${policyNameHash(policy)}`;
  const { items } = await listAll<PolicyRevision>(client, kinds.policyRevision, {
    labelSelector,
    ...(transform === undefined ? {} : { transform }),
  });
  const own = items.filter(({ spec }) => spec.policy.name === policy);
  const [first, ...others] = own.toSorted((a, b) => b.spec.number - a.spec.number);
  if (first !== undefined) return [first, ...others];
  throw new CliError(
    'not_found',
    `There is no revision of a policy named ${policy} in the namespace ${client.namespace}.` +
      (await nameRemedy(client, kinds.guardrailPolicy, policy)),
  );
}

/**
 * One revision of a policy, by its number.
 * @throws CliError not_found that names the newest revision; refused for a revision whose text was removed
 */
export async function readRevision(
  client: KubeClient,
  policy: string,
  number: number,
): Promise<Stored<PolicyRevision>> {
  const live = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, policy);
  const id = live?.metadata.labels?.[idLabel];
  const named = id === undefined ? undefined : await readRevisionOfId(client, id, number);
  if (named?.spec.policy.name === policy) return withText(named);
  const all = await readRevisions(client, policy);
  const found = all.find(({ spec }) => spec.number === number);
  if (found !== undefined) return withText(found);
  const newest = all[0].spec.number;
  throw new CliError(
    'not_found',
    `The policy ${policy} has no revision ${number}. The newest one is ${newest}; ${typedCommand(`history ${policy}`)} lists all.`,
  );
}

function withText(revision: Stored<PolicyRevision>): Stored<PolicyRevision> {
  if (!isPurged(revision)) return revision;
  const { number, policy } = revision.spec;
  throw new CliError(
    'refused',
    `The text of revision ${number} of ${policy.name} was removed: it cannot be read, compared or applied. Nothing was changed.`,
  );
}

/** A revision by the policy id that an application record holds. */
export function readRevisionOfId(
  client: KubeClient,
  policyId: string,
  number: number,
): Promise<Stored<PolicyRevision> | undefined> {
  return client.get<PolicyRevision>(kinds.policyRevision, `${policyId}-${number}`);
}

/** A revision without its definition, which may be large. */
export function withoutRevisionDefinition(revision: Stored<PolicyRevision>): Stored<PolicyRevision> {
  return { ...revision, spec: { ...revision.spec, definition: '' } };
}
