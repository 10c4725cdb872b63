import type { Command } from 'commander';
import { recordedAt } from '#diagnosis/revision-diff';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { bindingHistoryText, readBindingHistory } from '../bindings/binding-history.ts';
import { CliError } from '../errors/cli-error.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { deletionLines } from '../resources/policy-references.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { readRevisions, withoutRevisionDefinition } from '../revisions/read-revisions.ts';
import { readKindAndName } from '../selection/select.ts';

type HistoryOptions = ResourceCommandOptions & OutputOptions;

export function addHistory(program: Command, source: ResourceSource): void {
  const command = program
    .command('history')
    .description(
      'list the revisions of a policy with the bindings that they guard, or the applications of a binding; newest first',
    )
    .argument(
      '<policy>',
      'name of the policy; binding/NAME for the applications of a binding, with author and message',
    );
  withUnnamedOutput(withResourceOptions(command, source)).action((word: string, options: HistoryOptions) =>
    history(source, word, options),
  );
}

async function history(source: ResourceSource, word: string, options: HistoryOptions): Promise<void> {
  const target = word.includes('/') ? readKindAndName(word) : { kind: kinds.guardrailPolicy, name: word };
  const { kind, name: policy } = target;
  await using resources = await source.open(options);
  const { client } = resources;
  if (kind.kind === kinds.modelBinding.kind) return await historyOfBinding(client, policy, options);
  if (kind.kind !== kinds.guardrailPolicy.kind) {
    throw new CliError('usage', `A ${kind.kind} has no history: give the name of a policy, or binding/NAME.`);
  }
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

async function historyOfBinding(client: KubeClient, name: string, options: HistoryOptions): Promise<void> {
  const binding = await readResource<ModelBinding>(client, kinds.modelBinding, name);
  const rows = await readBindingHistory(client, binding);
  writeResult(formatOf(options), rows, (isWide) => bindingHistoryText(binding, rows, isWide));
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
