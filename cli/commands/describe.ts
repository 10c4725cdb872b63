import type { Command } from 'commander';
import { z } from 'zod';
import { appliedByText } from '#diagnosis/applied-by';
import { noteOfGeneration } from '#resources/change-note';
import { kinds } from '#resources/kinds';
import { conditionSchema, type Resource, type Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { judgedScopeOf, judgedScopeText } from '../bindings/judged-scope.ts';
import { bindingText } from '../management/texts.ts';
import { withSelector } from '../options/list-options.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, isForPeople, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf, writeNotice, yamlOf } from '../output/write.ts';
import type { OpenedResources, ResourceSource } from '../resources/resource-source.ts';
import { nothingFound } from '../selection/nothing-found.ts';
import { readSelected } from '../selection/read-selected.ts';
import { readSelection } from '../selection/select.ts';

type DescribeOptions = ResourceCommandOptions & OutputOptions & { readonly selector?: string };

export function addDescribe(program: Command, source: ResourceSource): void {
  const command = program
    .command('describe')
    .description('show resources with their conditions: some by name, those with labels, or a whole kind')
    .argument('<kind>', 'such as policy, binding, gp or mb; KIND/NAME, or all')
    .argument('[names...]', 'names of resources');
  withSelector(withOutput(withResourceOptions(command, source))).action(
    (word: string, names: readonly string[], options: DescribeOptions) => describe(source, [word, ...names], options),
  );
}

async function describe(source: ResourceSource, words: readonly string[], options: DescribeOptions): Promise<void> {
  const selection = readSelection(words);
  await using resources = await source.open(options);
  const selected = await readSelected(resources, selection, options);
  const found = selected.flatMap((one) => one.found);
  const isOne = selection.by === 'name' && selection.targets.length === 1;
  const texts: string[] = [];
  const format = formatOf(options);
  for (const one of isForPeople(format) ? found : []) texts.push(await textOf(resources, one));
  const value = isOne ? found[0] : { apiVersion: 'v1', kind: 'List', items: found };
  if (found.length === 0 && isForPeople(format)) {
    return writeNotice(nothingFound(resources.client, selection, options.selector));
  }
  writeResult(format, value, () => texts.join('\n\n'));
}

/** A resource with the texts that its binding does not judge and, over the management API, the state that the API computes. */
async function textOf({ stateOf }: OpenedResources, found: Stored<Resource>): Promise<string> {
  if (found.kind !== kinds.modelBinding.kind) return description(found);
  const binding = found as Stored<ModelBinding>;
  const judged = `Judged:\n${indent(judgedScopeText(judgedScopeOf(binding), binding.status?.pinned?.checks))}`;
  const state = stateOf === undefined ? [] : [`State:\n${indent(bindingText(await stateOf(binding)))}`];
  return [description(found), judged, ...state].join('\n');
}

const statusSchema = z.looseObject({ conditions: z.array(conditionSchema).optional() });

/** Metadata, spec, status and conditions of a resource as text. */
function description(object: Stored<Resource>): string {
  const { kind, metadata, spec, status } = object;
  const note = noteOfGeneration(object);
  const { conditions = [], ...rest } = statusSchema.catch({}).parse(status ?? {});
  const head = tableOf([
    ['Name:', metadata.name],
    ['Kind:', kind],
    ['Namespace:', metadata.namespace ?? '-'],
    ['Created:', metadata.creationTimestamp],
    ...(metadata.deletionTimestamp === undefined ? [] : [['Deleting since:', metadata.deletionTimestamp]]),
    ['Generation:', String(metadata.generation)],
    ['Labels:', pairs(metadata.labels)],
    ...(note === undefined ? [] : [['Changed by:', appliedByText(note)]]),
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
