import type { Command } from 'commander';
import { allNamespaces } from '#kube/client/resource-path';
import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import { type ListCommandOptions, withListOptions } from '../options/list-options.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type Format, formatOf, isForPeople, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { resourceRows, type TableView } from '../output/resource-table.ts';
import { tableOf, writeNotice } from '../output/write.ts';
import { deletionLines } from '../resources/policy-references.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { nothingFound } from '../selection/nothing-found.ts';
import { readSelected, type SelectedKind } from '../selection/read-selected.ts';
import { readSelection, type Selection } from '../selection/select.ts';
import { showChanges } from '../watching/show-changes.ts';

type GetOptions = ResourceCommandOptions & OutputOptions & ListCommandOptions & { readonly watch?: boolean };

export function addGet(program: Command, source: ResourceSource): void {
  const command = program
    .command('get')
    .description('list the resources of a kind, or show some by name')
    .argument('<kind>', 'such as policies, bindings, gp or mb; KIND/NAME, or all')
    .argument('[names...]', 'names of resources');
  withListOptions(withOutput(withResourceOptions(command, source)))
    .option('-w, --watch', 'show the resources, then every change until Ctrl-C')
    .action((word: string, names: readonly string[], options: GetOptions) => get(source, [word, ...names], options));
}

async function get(source: ResourceSource, words: readonly string[], options: GetOptions): Promise<void> {
  const selection = readSelection(words);
  const { allNamespaces: isEverywhere = false } = options;
  if (isEverywhere && selection.by === 'name') {
    throw new CliError('usage', 'A resource is named in one namespace: give -n instead of --all-namespaces.');
  }
  if (options.watch === true && options.sortBy !== undefined) {
    throw new CliError('usage', '--watch shows changes in their order in time: leave out --sort-by.');
  }
  await using resources = await source.open(isEverywhere ? { ...options, namespace: allNamespaces } : options);
  const format = formatOf(options);
  if (options.watch === true) {
    // The result is awaited here, because the resources are closed at the end of this function.
    return await showChanges(resources, selection, { ...options, format });
  }
  const selected = (await readSelected(resources, selection, options)).map(({ kind, found }) => ({
    kind,
    found: sortResources(found, options.sortBy),
  }));
  const found = selected.flatMap((one) => one.found);
  const whole = isOne(selection) ? found[0] : { apiVersion: 'v1', kind: 'List', items: found };
  if (found.length === 0 && isForPeople(format)) {
    return writeNotice(nothingFound(resources.client, selection, options.selector));
  }
  writeResult(format, whole, () => tablesOf(selected, selection, { ...options, format }));
}

function isOne(selection: Selection): boolean {
  return selection.by === 'name' && selection.targets.length === 1;
}

/** A table for each kind that has resources, and why a policy under deletion still exists. */
function tablesOf(
  selected: readonly SelectedKind[],
  selection: Selection,
  options: GetOptions & { readonly format: Format },
): string {
  const view: TableView = {
    isWide: options.format === 'wide',
    showsLabels: options.showLabels === true,
    showsNamespaces: options.allNamespaces === true,
    namesKinds: selection.by === 'kind' ? selection.kinds.length > 1 : selected.length > 1,
    now: new Date(),
  };
  return selected
    .filter(({ found }) => found.length > 0)
    .map(({ kind, found }) => {
      const { header, rows } = resourceRows(kind, found, view);
      return [tableOf(options.headers ? [header, ...rows] : rows), ...found.flatMap(deletionLines)].join('\n');
    })
    .join('\n\n');
}

/**
 * Resources in the order of the value at a path: numbers by size, other values as texts. Resources without the value
 * come first, as in kubectl.
 * @throws CliError usage if no resource has a value at the path
 */
function sortResources(
  resources: readonly Stored<Resource>[],
  read: ((value: unknown) => readonly unknown[]) | undefined,
): readonly Stored<Resource>[] {
  if (read === undefined || resources.length === 0) return resources;
  const keyed = resources.map((resource) => ({ resource, key: read(resource)[0] }));
  if (keyed.every(({ key }) => key === undefined)) {
    throw new CliError('usage', 'No resource has a value at the path of --sort-by: -o yaml shows the paths.');
  }
  return keyed.toSorted((a, b) => compareKeys(a.key, b.key)).map(({ resource }) => resource);
}

function compareKeys(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [textOf(a), textOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
