import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ChartValue, readValues } from '../chart/read-values.ts';
import { valuesSchema } from '../chart/values-schema.ts';
import { root } from '../check/run-tool.ts';
import { code, page, table } from '../reference/markdown.ts';

type Json = { [member: string]: unknown };

/** Draft 7, which every version of Helm reads; newer keywords of our schemas are translated. */
function schemaOf(values: readonly ChartValue[]): Json {
  const schema = z.toJSONSchema(valuesSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'uri') jsonSchema.pattern = '^https?://[^/]';
    },
  }) as Json;
  for (const { path, comment } of values) {
    if (comment !== '') partAt(schema, path)['description'] = comment;
  }
  return schema;
}

function partAt(schema: Json, path: readonly string[]): Json {
  return path.reduce<Json>((at, key) => {
    const next = (at['properties'] as Record<string, Json> | undefined)?.[key];
    if (next === undefined) throw new TypeError(`values.yaml has ${path.join('.')}, and its schema does not`);
    return next;
  }, schema);
}

function shown(value: unknown): string {
  return code(typeof value === 'string' && value !== '' ? value : JSON.stringify(value));
}

/** The schema with which Helm validates values, and the page that lists them. */
export function generate(): ReadonlyMap<string, string> {
  const values = readValues(readFileSync(join(root, 'charts/portcullis/values.yaml'), 'utf8'));
  const rows = values
    .filter(({ isGroup, comment }) => !isGroup || comment !== '')
    .map(({ path, isGroup, comment, default: standard }) => [
      code(path.join('.')),
      isGroup ? '' : shown(standard),
      comment,
    ]);
  const introduction =
    'Every value of `charts/portcullis` with its default. `values.schema.json` has types and limits; a key ' +
    'that is not listed is refused.';
  return new Map([
    ['charts/portcullis/values.schema.json', `${JSON.stringify(schemaOf(values), undefined, 2)}\n`],
    [
      'docs/reference/values.md',
      page('Values of the chart', introduction, [table(['Value', 'Default', 'Meaning'], rows)]),
    ],
  ]);
}
