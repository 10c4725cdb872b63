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

export function addReapply(program: Command): void {
  const command = program
    .command('reapply')
    .description('apply the same revision to a binding once more')
    .argument('<binding>', 'name of the binding');
  withWait(withPlatformOptions(command)).action(reapply);
}

async function rollback(name: string, options: RollbackOptions): Promise<void> {
  await applyRevision(name, options, async (binding, client) => {
    const revision = options.toRevision ?? revisionBefore(binding);
    await requireRevision(client, binding, revision);
    return revision;
  });
}

async function reapply(name: string, options: PlatformCommandOptions & WaitOption): Promise<void> {
  await applyRevision(name, options, async ({ spec }) =>
    spec.guardrail.mode === 'Policy' ? spec.guardrail.policyRef.revision : undefined,
  );
}

async function applyRevision(
  name: string,
  options: PlatformCommandOptions & WaitOption,
  choose: (binding: Stored<ModelBinding>, client: KubeClient) => Promise<number | undefined>,
): Promise<void> {
  await using client = openResources(options.data, options.namespace);
  const binding = await readResource<ModelBinding>(client, kinds.modelBinding, name);
  const revision = await choose(binding, client);
  const spec = { ...withRevision(binding, revision), apply: uuidv7() };
  const written = await applyDesired(client, kinds.modelBinding, binding, { spec }, 'generation');
  const what = revision === undefined ? 'no policy' : `revision ${revision}`;
  if (options.json !== true) writeText(`ModelBinding ${name} wants ${what}`);
  if (options.wait !== undefined) {
    await waitApplied(client, written, options.wait);
    if (options.json !== true) writeText(`ModelBinding ${name} is applied`);
  }
  if (options.json === true) writeJson(written);
}

function withRevision({ spec }: Stored<ModelBinding>, revision: number | undefined): ModelBinding['spec'] {
  if (spec.guardrail.mode === 'None' || revision === undefined) return spec;
  return { ...spec, guardrail: { mode: 'Policy', policyRef: { ...spec.guardrail.policyRef, revision } } };
}

/** The newest revision that was applied before the one that the binding wants; by number where none is remembered. */
function revisionBefore({ metadata, spec, status }: Stored<ModelBinding>): number {
  if (spec.guardrail.mode === 'None') {
    throw new CliError('usage', `The ModelBinding ${metadata.name} has no policy, so it has no earlier revision.`);
  }
  const { revision } = spec.guardrail.policyRef;
  const policyId = status?.pinned?.policyId;
  const applied = (status?.applications ?? [])
    .filter((record) => record.outcome === 'Applied' && record.policyId === policyId)
    .toSorted((a, b) => b.time.localeCompare(a.time))
    .map((record) => Number(record.policyRevision));
  const before = applied.find((number) => number !== revision) ?? revision - 1;
  if (before >= 1) return before;
  throw new CliError('usage', `The ModelBinding ${metadata.name} wants revision 1: there is no earlier one.`);
}

/** A binding that wants a revision which is not there would wait for it. */
async function requireRevision(client: KubeClient, { spec }: Stored<ModelBinding>, revision: number): Promise<void> {
  if (spec.guardrail.mode === 'None') return;
  const { name } = spec.guardrail.policyRef;
  const { items } = await listAll<PolicyRevision>(client, kinds.policyRevision);
  if (items.some((item) => item.spec.policy.name === name && item.spec.number === revision)) return;
  throw new CliError('not_found', `The policy ${name} has no revision ${revision}.`);
}

function readRevision(text: string): number {
  const revision = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (revision < 1) throw new InvalidArgumentError('It must be the number of a revision, from 1 on.');
  return revision;
}
