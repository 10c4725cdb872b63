import type { Command } from 'commander';
import { kinds } from '#crds/kinds';
import type { Stored } from '#crds/metadata';
import type { ModelBinding } from '#crds/model-binding';
import type { PolicyRevision } from '#crds/policy-revision';
import { listAll } from '#kube/list-all';
import { CliError } from '../cli-error.ts';
import { tableOf, writeJson, writeText } from '../output/write.ts';
import { openResources } from '../platform/running-platform.ts';
import { type PlatformCommandOptions, withPlatformOptions } from './platform-options.ts';

export function addHistory(program: Command): void {
  const command = program
    .command('history')
    .description('list the revisions of a policy, newest first, and the bindings that each one guards')
    .argument('<policy>', 'name of the policy');
  withPlatformOptions(command).action(history);
}

async function history(policy: string, options: PlatformCommandOptions): Promise<void> {
  await using client = openResources(options.data, options.namespace);
  const { items } = await listAll<PolicyRevision>(client, kinds.policyRevision);
  const own = items.filter(({ spec }) => spec.policy.name === policy);
  if (own.length === 0) {
    throw new CliError('not_found', `There is no revision of a policy named ${policy} in ${options.namespace}.`);
  }
  const bindings = (await listAll<ModelBinding>(client, kinds.modelBinding)).items;
  const rows = own.toSorted((a, b) => b.spec.number - a.spec.number).map((revision) => rowOf(revision, bindings));
  if (options.json === true) return writeJson(rows);
  const header = ['REVISION', 'RECORDED', 'RULES', 'TESTS', 'DEFINITION', 'GUARDS'];
  const cells = rows.map((row) => [
    String(row.revision),
    row.recorded,
    String(row.rules),
    String(row.tests),
    row.definitionDigest.slice(0, 12),
    row.guards.join(',') || '-',
  ]);
  writeText(tableOf([header, ...cells]));
}

function rowOf({ spec, metadata }: Stored<PolicyRevision>, bindings: readonly Stored<ModelBinding>[]) {
  const guards = bindings.filter(
    ({ status }) => status?.pinned?.policyId === spec.policyId && status.pinned.policyRevision === String(spec.number),
  );
  return {
    revision: spec.number,
    recorded: metadata.creationTimestamp,
    rules: spec.ruleCount,
    tests: spec.tests.length,
    definitionDigest: spec.definitionDigest,
    guards: guards.map(({ metadata: { name } }) => name),
  };
}
