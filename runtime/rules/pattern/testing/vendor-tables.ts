import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The tables in the format of `unicode/re2-tables.json`. */
type VendorTables = {
  readonly groups: Readonly<Record<string, string>>;
  readonly folds: string;
};

/**
 * Reads the Unicode classes and the case folding ranges out of the C++ sources that npm `re2` was built from, so that
 * our copy cannot drift from the engine.
 */
export function readVendorTables(): VendorTables {
  const engine = dirname(createRequire(import.meta.url).resolve('re2'));
  const read = (name: string) => readFileSync(join(engine, 'vendor/re2/re2', name), 'utf8');
  return { groups: readGroups(read('unicode_groups.cc')), folds: readFolds(read('unicode_casefold.cc')) };
}

function readGroups(source: string): Record<string, string> {
  const arrays = new Map<string, number[]>();
  for (const [, name, body] of source.matchAll(/static const URange\d+ (\w+)\[\] = \{([^;]*)\};/g)) {
    const bounds = [...(body ?? '').matchAll(/\{ (\d+), (\d+) \}/g)].flatMap((m) => [Number(m[1]), Number(m[2])]);
    arrays.set(name ?? '', bounds);
  }
  const groups: Record<string, string> = {};
  for (const [, name, low, high] of source.matchAll(/\{ "(\w+)", \+1, (\w+), \d+, (\w+), \d+ \}/g)) {
    groups[name ?? ''] = pack([...(arrays.get(low ?? '') ?? []), ...(arrays.get(high ?? '') ?? [])]);
  }
  return groups;
}

function readFolds(source: string): string {
  const table = /unicode_casefold\[\] = \{([^;]*)\};/.exec(source)?.[1] ?? '';
  const rows = [...table.matchAll(/\{ (\d+), (\d+), ([\w-]+) \}/g)];
  return rows.map(([, low, high, delta]) => `${low} ${high} ${delta}`).join(',');
}

/** Ascending numbers, encoded as differences in base 36. */
function pack(numbers: readonly number[]): string {
  return numbers.map((value, at) => (value - (numbers[at - 1] ?? 0)).toString(36)).join(' ');
}
