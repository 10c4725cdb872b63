import { type Command, InvalidArgumentError } from 'commander';
import { v7 as uuidv7 } from 'uuid';
import { kinds } from '#crds/kinds';
import type { Stored } from '#crds/metadata';
import type { ModelBinding } from '#crds/model-binding';
import type { PolicyRevision } from '#crds/policy-revision';
import { applyDesired } from '#kube/apply';
import type { KubeClient } from '#kube/client';
import { listAll } from '#kube/list-all';
import { CliError } from '../cli-error.ts';
import { writeJson, writeText } from '../output/write.ts';
import { openResources } from '../platform/running-platform.ts';
import { waitApplied } from '../platform/wait-applied.ts';
import { readResource } from '../read-resource.ts';
import { type PlatformCommandOptions, withPlatformOptions } from './platform-options.ts';
import { type WaitOption, withWait } from './wait-option.ts';

type RollbackOptions = PlatformCommandOptions & WaitOption & { readonly toRevision?: number };

export function addRollback(program: Command): void {
  const command = program
    .command('rollback')
    .description('apply an earlier revision of its policy to a binding')
    .argument('<binding>', 'name of the binding')
    .option('--to-revision <n>', 'the revision (default: the one that was applied before)', readRevision);
  withWait(withPlatformOptions(command)).action(rollback);
}

type PolicyRef = { readonly name: string; readonly revision: number };

async function rollback(name: string, options: RollbackOptions): Promise<void> {
  await applyRevision(name, options, async (binding, client) => {
    const wanted = wantedPolicy(binding);
    const { items } = await listAll<PolicyRevision>(client, kinds.policyRevision);
    const { toRevision } = options;
    if (toRevision === undefined) return requireRevision(items, appliedBefore(binding, wanted, items));
    return requireRevision(items, { name: wanted.name, revision: toRevision });
  });
}

async function applyRevision(
  name: string,
  options: PlatformCommandOptions & WaitOption,
  choose: (binding: Stored<ModelBinding>, client: KubeClient) => Promise<PolicyRef>,
): Promise<void> {
  await using client = openResources(options.data, options.namespace);
  const binding = await readResource<ModelBinding>(client, kinds.modelBinding, name);
  const policyRef = await choose(binding, client);
  const guardrail = { mode: 'Policy' as const, policyRef };
  const spec = { ...binding.spec, guardrail, apply: uuidv7() };
  const written = await applyDesired(client, kinds.modelBinding, binding, { spec }, 'generation');
  const what = describeChange(binding, policyRef);
  if (options.json !== true) writeText(`ModelBinding ${name} wants ${what}`);
  if (options.wait !== undefined) {
    await waitApplied(client, written, options.wait);
    if (options.json !== true) writeText(`ModelBinding ${name} is applied`);
  }
  if (options.json === true) writeJson(written);
}

function describeChange({ spec }: Stored<ModelBinding>, { name, revision }: PolicyRef): string {
  const isOther = spec.guardrail.mode === 'None' || spec.guardrail.policyRef.name !== name;
  return isOther ? `revision ${revision} of ${name}` : `revision ${revision}`;
}

function wantedPolicy({ metadata, spec }: Stored<ModelBinding>): PolicyRef {
  if (spec.guardrail.mode === 'Policy') return spec.guardrail.policyRef;
  throw new CliError('usage', `The ModelBinding ${metadata.name} has no policy, so it has no earlier revision.`);
}

/**
 * What was applied last and is not what the binding wants, of whatever policy: the records of the binding begin with
 * the newest. The revision before by number where nothing else is remembered.
 */
function appliedBefore(
  { metadata, status }: Stored<ModelBinding>,
  wanted: PolicyRef,
  revisions: readonly PolicyRevision[],
): PolicyRef {
  for (const { outcome, policyId, policyRevision } of status?.applications ?? []) {
    if (outcome !== 'Applied' || policyId === undefined) continue;
    const recorded = revisions.find(({ spec }) => spec.policyId === policyId && String(spec.number) === policyRevision);
    if (recorded === undefined) continue;
    const { policy, number } = recorded.spec;
    if (policy.name !== wanted.name || number !== wanted.revision) return { name: policy.name, revision: number };
  }
  if (wanted.revision > 1) return { name: wanted.name, revision: wanted.revision - 1 };
  throw new CliError('usage', `The ModelBinding ${metadata.name} wants revision 1: there is no earlier one.`);
}

/** A binding that wants a revision which is not there would wait for it. */
function requireRevision(revisions: readonly PolicyRevision[], wanted: PolicyRef): PolicyRef {
  const { name, revision } = wanted;
  if (revisions.some(({ spec }) => spec.policy.name === name && spec.number === revision)) return wanted;
  throw new CliError('not_found', `The policy ${name} has no revision ${revision}.`);
}

function readRevision(text: string): number {
  const revision = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (revision < 1) throw new InvalidArgumentError('It must be the number of a revision, from 1 on.');
  return revision;
}
