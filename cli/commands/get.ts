import type { Command } from 'commander';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { resourceTable } from '../output/resource-table.ts';
import { deletionOf } from '../resources/policy-references.ts';
import { readResource } from '../resources/read-resource.ts';
import { resourceKind } from '../resources/resource-kind.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type GetOptions = ResourceCommandOptions & OutputOptions;

export function addGet(program: Command, source: ResourceSource): void {
  const command = program
    .command('get')
    .description('list the resources of a kind, or show one')
    .argument('<kind>', 'such as guardrailpolicies, modelbindings, gp or mb')
    .argument('[name]', 'name of one resource');
  withOutput(withResourceOptions(command, source)).action(
    (word: string, name: string | undefined, options: GetOptions) => get(source, word, name, options),
  );
}

async function get(source: ResourceSource, word: string, name: string | undefined, options: GetOptions): Promise<void> {
  const kind = resourceKind(word);
  await using resources = await source.open(options);
  const { client } = resources;
  const found = name === undefined ? (await listAll(client, kind)).items : [await readResource(client, kind, name)];
  const whole = name === undefined ? { apiVersion: 'v1', kind: 'List', items: found } : found[0];
  writeResult(formatOf(options), whole, (isWide) =>
    found.length === 0
      ? `No ${kind.plural} in the namespace ${client.namespace}.`
      : [resourceTable(kind, found, isWide, new Date()), ...deletionLines(found)].join('\n'),
  );
}

/** Why a policy under deletion still exists. */
function deletionLines(found: readonly Stored<Resource>[]): readonly string[] {
  return found.flatMap((resource) => {
    if (resource.kind !== kinds.guardrailPolicy.kind) return [];
    const reason = deletionOf(resource as Stored<GuardrailPolicy>);
    return reason === undefined ? [] : [`${resource.kind} ${resource.metadata.name} is being deleted: ${reason}`];
  });
}
