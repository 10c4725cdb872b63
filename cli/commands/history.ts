import type { Command } from 'commander';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { deletionLines } from '../resources/policy-references.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { readRevisions, recordedAt, withoutRevisionDefinition } from '../revisions/read-revisions.ts';

type HistoryOptions = ResourceCommandOptions & OutputOptions;

export function addHistory(program: Command, source: ResourceSource): void {
  const command = program
    .command('history')
    .description('list the revisions of a policy, newest first, with the bindings that they guard')
    .argument('<policy>', 'name of the policy');
  withOutput(withResourceOptions(command, source)).action((policy: string, options: HistoryOptions) =>
    history(source, policy, options),
  );
}

async function history(source: ResourceSource, policy: string, options: HistoryOptions): Promise<void> {
  await using resources = await source.open(options);
  const { client } = resources;
  const revisions = await readRevisions(client, policy, withoutRevisionDefinition);
  const bindings = (await listAll<ModelBinding>(client, kinds.modelBinding)).items;
  const rows = revisions.map((revision) => rowOf(revision, bindings));
  const live = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, policy);
  writeResult(formatOf(options), rows, (isWide) =>
    [
      tableOf([headerOf(isWide), ...rows.map((row) => cells(row, isWide))]),
      ...(live === undefined ? [] : deletionLines(live)),
    ].join('\n'),
  );
}

type Row = ReturnType<typeof rowOf>;

function rowOf(revision: Stored<PolicyRevision>, bindings: readonly Stored<ModelBinding>[]) {
  const { spec, metadata } = revision;
  const guards = bindings.filter(
    ({ status }) => status?.pinned?.policyId === spec.policyId && status.pinned.policyRevision === spec.number,
  );
  return {
    revision: spec.number,
    recorded: recordedAt(revision),
    rules: spec.ruleCount,
    tests: spec.tests.length,
    definitionDigest: spec.definitionDigest,
    guards: guards.map(({ metadata: { name } }) => name),
    name: metadata.name,
    author: spec.author ?? 'unknown',
    message: spec.message ?? '',
    lifecycle: spec.lifecycle,
    displayName: spec.displayName,
  };
}

function headerOf(isWide: boolean): readonly string[] {
  const shown = ['REVISION', 'RECORDED', 'RULES', 'TESTS', 'DEFINITION', 'AUTHOR', 'MESSAGE', 'GUARDS'];
  return isWide ? [...shown, 'LIFECYCLE', 'NAME', 'DISPLAY NAME'] : shown;
}

function cells(row: Row, isWide: boolean): readonly string[] {
  const shown = [
    String(row.revision),
    row.recorded,
    String(row.rules),
    String(row.tests),
    row.definitionDigest.slice(0, 12),
    row.author,
    row.message || '-',
    row.guards.join(',') || '-',
  ];
  return isWide ? [...shown, row.lifecycle, row.name, row.displayName] : shown;
}
