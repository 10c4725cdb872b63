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
import { checkApplicable, type RevisionRef } from '../revisions/applicable-revision.ts';
import { readRevisionOfId } from '../revisions/read-revisions.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';

type RollbackOptions = ResourceCommandOptions & OutputOptions & WaitOption & { readonly toRevision?: number };

export function addRollback(program: Command, source: ResourceSource): void {
  const command = program
    .command('rollback')
    .description('apply an earlier revision to a binding')
    .argument('<binding>', 'name of the binding')
    .option(
      '--to, --to-revision <n>',
      'the revision (default: the one that was applied before, of any policy)',
      parseRevisionNumber,
    );
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
  const target =
    toRevision === undefined
      ? await appliedBefore(client, binding, wanted)
      : { name: wanted.name, revision: toRevision };
  // A binding whose application failed at once still serves the previous revision and requests another one.
  await checkApplicable(client, binding, target);
  const policyRef = { name: target.name, revision: target.revision };
  await applyToBindings(client, [{ binding, guardrail: { mode: 'Policy', policyRef } }], options);
}

function wantedPolicy({ metadata, spec }: Stored<ModelBinding>): RevisionRef {
  if (spec.guardrail.mode === 'Policy') return spec.guardrail.policyRef;
  throw new CliError('usage', `The ModelBinding ${metadata.name} has no policy, so it has no earlier revision.`);
}

/**
 * The revision that was applied last before the one that the binding names, of any policy: the records of the binding
 * begin with the newest. Without such a record, the revision number before.
 */
async function appliedBefore(
  client: KubeClient,
  { metadata, status }: Stored<ModelBinding>,
  wanted: RevisionRef,
): Promise<RevisionRef> {
  for (const { outcome, policyId, policyRevision } of status?.applications ?? []) {
    if (outcome !== 'Applied' || policyId === undefined || policyRevision === undefined) continue;
    const recorded = await readRevisionOfId(client, policyId, policyRevision);
    if (recorded === undefined) continue;
    const { policy, number } = recorded.spec;
    if (policy.name !== wanted.name || number !== wanted.revision) {
      return { name: policy.name, revision: number, policyId };
    }
  }
  if (wanted.revision > 1) return { name: wanted.name, revision: wanted.revision - 1 };
  throw new CliError('usage', `The ModelBinding ${metadata.name} is already at revision 1: there is no earlier one.`);
}
