import type { Command } from 'commander';
import { z } from 'zod';
import { kinds } from '#resources/kinds';
import { conditionSchema, type Resource, type Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { judgedScopeOf, judgedScopeText } from '../bindings/judged-scope.ts';
import { bindingText } from '../management/texts.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf, yamlOf } from '../output/write.ts';
import { readResource } from '../resources/read-resource.ts';
import { resourceKind } from '../resources/resource-kind.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type DescribeOptions = ResourceCommandOptions & OutputOptions;

export function addDescribe(program: Command, source: ResourceSource): void {
  const command = program
    .command('describe')
    .description('show one resource with its conditions')
    .argument('<kind>', 'such as guardrailpolicy, modelbinding, gp or mb')
    .argument('<name>', 'name of the resource');
  withOutput(withResourceOptions(command, source)).action((word: string, name: string, options: DescribeOptions) =>
    describe(source, word, name, options),
  );
}

async function describe(source: ResourceSource, word: string, name: string, options: DescribeOptions): Promise<void> {
  const kind = resourceKind(word);
  await using resources = await source.open(options);
  const found = await readResource(resources.client, kind, name);
  const { stateOf } = resources;
  const binding = kind.kind === kinds.modelBinding.kind ? (found as Stored<ModelBinding>) : undefined;
  const state =
    stateOf === undefined || binding === undefined ? [] : [`State:\n${indent(bindingText(await stateOf(binding)))}`];
  const judged =
    binding === undefined
      ? []
      : [
          `Judged:\n${indent(judgedScopeText(judgedScopeOf(binding), binding.status?.pinned?.checks?.streamingRefusedBy))}`,
        ];
  writeResult(formatOf(options), found, () => [description(found), ...judged, ...state].join('\n'));
}

const statusSchema = z.looseObject({ conditions: z.array(conditionSchema).optional() });

/** Metadata, spec, status and conditions of a resource as text. */
function description({ kind, metadata, spec, status }: Stored<Resource>): string {
  const { conditions = [], ...rest } = statusSchema.catch({}).parse(status ?? {});
  const head = tableOf([
    ['Name:', metadata.name],
    ['Kind:', kind],
    ['Namespace:', metadata.namespace ?? '-'],
    ['Created:', metadata.creationTimestamp],
    ...(metadata.deletionTimestamp === undefined ? [] : [['Deleting since:', metadata.deletionTimestamp]]),
    ['Generation:', String(metadata.generation)],
    ['Labels:', pairs(metadata.labels)],
  ]);
  const rows = conditions.map(({ type, status: value, reason, message }) => [`  ${type}`, value, reason, message]);
  return [
    head,
    `Spec:\n${indent(yamlOf(spec))}`,
    Object.keys(rest).length === 0 ? 'Status: {}' : `Status:\n${indent(yamlOf(rest))}`,
    rows.length === 0 ? 'Conditions: none' : `Conditions:\n${tableOf(rows)}`,
  ].join('\n');
}

function pairs(labels: Readonly<Record<string, string>> | undefined): string {
  const all = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return all.length === 0 ? '-' : all.join(' ');
}

function indent(text: string): string {
  return text.trimEnd().replace(/^(?=.)/gm, '  ');
}
