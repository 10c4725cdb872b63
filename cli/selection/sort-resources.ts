import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';

/**
 * Resources in the order of the value at a path: numbers by size, other values as texts. Resources without the value
 * come first, as in kubectl.
 * @throws CliError usage if no resource has a value there
 */
export function sortResources(
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
