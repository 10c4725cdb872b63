import type { Command } from 'commander';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { applyToBindings } from '../bindings/apply-to-bindings.ts';
import { CliError } from '../errors/cli-error.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { type OutputOptions, withOutput } from '../output/format.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { readRevision, readRevisionOfId } from '../revisions/read-revisions.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';

type RollbackOptions = ResourceCommandOptions & OutputOptions & WaitOption & { readonly toRevision?: number };
type PolicyRef = { readonly name: string; readonly revision: number };

export function addRollback(program: Command, source: ResourceSource): void {
  const command = program
    .command('rollback')
    .description('apply an earlier revision of its policy to a binding')
    .argument('<binding>', 'name of the binding')
    .option('--to, --to-revision <n>', 'the revision (default: the one that was applied before)', parseRevisionNumber);
  withWait(withOutput(withResourceOptions(command, source))).action((name: string, options: RollbackOptions) =>
    rollback(source, name, options),
  );
}

async function rollback(source: ResourceSource, name: string, options: RollbackOptions): Promise<void> {
  await using resources = await source.open(options);
  const { client } = resources;
  const binding = await readResource<ModelBinding>(client, kinds.modelBinding, name);
  const wanted = wantedPolicy(binding);
  const { toRevision } = options;
  const policyRef =
    toRevision === undefined
      ? await appliedBefore(client, binding, wanted)
      : { name: wanted.name, revision: toRevision };
  // A binding that wants a revision which is not there would wait for it.
  await readRevision(client, policyRef.name, policyRef.revision);
  await applyToBindings(client, [{ binding, guardrail: { mode: 'Policy', policyRef } }], options);
}

function wantedPolicy({ metadata, spec }: Stored<ModelBinding>): PolicyRef {
  if (spec.guardrail.mode === 'Policy') return spec.guardrail.policyRef;
  throw new CliError('usage', `The ModelBinding ${metadata.name} has no policy, so it has no earlier revision.`);
}

/**
 * What was applied last and is not what the binding wants, of whatever policy: the records of the binding begin with
 * the newest. The revision before by number where nothing else is remembered.
 */
async function appliedBefore(
  client: KubeClient,
  { metadata, status }: Stored<ModelBinding>,
  wanted: PolicyRef,
): Promise<PolicyRef> {
  for (const { outcome, policyId, policyRevision } of status?.applications ?? []) {
    if (outcome !== 'Applied' || policyId === undefined || policyRevision === undefined) continue;
    const recorded = await readRevisionOfId(client, policyId, policyRevision);
    if (recorded === undefined) continue;
    const { policy, number } = recorded.spec;
    if (policy.name !== wanted.name || number !== wanted.revision) return { name: policy.name, revision: number };
  }
  if (wanted.revision > 1) return { name: wanted.name, revision: wanted.revision - 1 };
  throw new CliError('usage', `The ModelBinding ${metadata.name} wants revision 1: there is no earlier one.`);
}
