import { kinds } from '#resources/kinds';
import { presentations } from '#resources/presentation';
import { resourceStructure } from '../crds/render-definition.ts';
import type { StructuralSchema } from '../crds/structural-schema.ts';
import { type Field, fieldsOf } from '../crds/walk-schema.ts';
import { code, page, table } from '../reference/markdown.ts';

function typeOf(schema: StructuralSchema): string {
  switch (schema.type) {
    case 'array':
      return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
    case 'string':
      return schema.enum === undefined ? (schema.format ?? 'string') : schema.enum.map(code).join(', ');
    case 'integer':
    case 'boolean':
    case 'object':
      return schema.type;
  }
}

/** Descriptions of regular expressions by their beginnings: written out, some expressions would look like links. */
const patternWords: readonly (readonly [string, string])[] = [
  ['^[a-z0-9]([-a-z0-9]*', 'a DNS name in lower case'],
  ['^([0-9a-fA-F]{8}-', 'a UUID'],
  ['^[0-9a-f]{64}$', 'hexadecimal digits'],
  ['^[A-Za-z0-9]([A-Za-z0-9._-]*', 'letters, digits, ".", "_" and "-" between letters or digits'],
  ['^[A-Za-z0-9][A-Za-z0-9._-]*', 'letters, digits, ".", "_" and "-" after a letter or digit'],
  ['^[A-Za-z0-9][A-Za-z0-9._:/-]*', 'letters, digits, ".", "_", ":", "/" and "-" after a letter or digit'],
  ['^[A-Za-z]([A-Za-z0-9_,:]*', 'one word'],
  ['^[A-Za-z0-9_.-]+$', 'letters, digits, ".", "_" and "-"'],
  ['^[a-z0-9][A-Za-z0-9._:/-]*@sha256:', 'the name of an image, "@sha256:" and 64 hexadecimal digits'],
  ['^[^\\p{Cc}', 'one line without control characters'],
];

function patternOf(pattern: string): string {
  const known = patternWords.find(([start]) => pattern.startsWith(start));
  if (known === undefined)
    throw new TypeError(`add a description of the regular expression ${pattern} to the reference generator`);
  return known[1];
}

function limitsOf(schema: StructuralSchema): string {
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems, pattern } = schema;
  const most = maximum === Number.MAX_SAFE_INTEGER ? 'up' : maximum;
  return [
    ...(maximum === undefined ? [] : [most === 'up' ? `from ${minimum}` : `${minimum} to ${most}`]),
    ...(maxItems === undefined ? [] : [`${minItems} to ${maxItems} items`]),
    ...(maxLength === undefined || schema.format !== undefined ? [] : [`${minLength} to ${maxLength} characters`]),
    ...(pattern === undefined ? [] : [patternOf(pattern)]),
  ].join('; ');
}

/** Whether a field is repeated: the reference describes both policy sections, and both of their lists, only once. */
function isRepeated({ path }: Field): boolean {
  return /^spec\.definition\.(response\.|request\.additional\[\]\.(?!mode$))/.test(path);
}

function isRequired({ name, parent }: Field): boolean {
  return parent?.required?.includes(name) ?? false;
}

function kindPart(key: keyof typeof kinds): readonly string[] {
  const { kind, plural, shortNames, internal } = kinds[key];
  const named = fieldsOf(resourceStructure(key)).filter((field) => field.name !== '' && !isRepeated(field));
  const rows = named.map((field) => [
    code(field.path),
    typeOf(field.schema),
    isRequired(field) ? 'yes' : '',
    limitsOf(field.schema),
    field.schema.description ?? '',
  ]);
  const writer = internal ? ' People read it only.' : '';
  return [
    `## ${kind}`,
    `${presentations[key].description} ${code(plural)}, in short ${shortNames.map(code).join(', ')}.${writer}`,
    table(['Field', 'Type', 'Required', 'Limits', 'Meaning'], rows),
  ];
}

/** The description of every field of every kind, as `kubectl explain` prints it. */
export function generate(): ReadonlyMap<string, string> {
  const introduction =
    'Every field of the resources, with its limits. Lengths are counted in characters of Unicode. `response` has the ' +
    'fields of `request`, and an item of `additional` those of `baseline` and `mode`.';
  const parts = (Object.keys(kinds) as (keyof typeof kinds)[]).flatMap(kindPart);
  return new Map([['docs/reference/resources.md', page('Resources', introduction, parts)]]);
}
