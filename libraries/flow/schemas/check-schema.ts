import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import { compileFlowPattern } from '../expressions/pattern.ts';
import type { PlacedProblem, SourcePath } from '../source/problem.ts';

type Members = { readonly [name: string]: JsonValue };
type Place = 'schema' | 'list' | 'map';

/** Keywords that hold subschemas. */
const holders: Readonly<Record<string, Place>> = {
  properties: 'map',
  $defs: 'map',
  items: 'schema',
  additionalProperties: 'schema',
  not: 'schema',
  prefixItems: 'list',
  anyOf: 'list',
  oneOf: 'list',
  allOf: 'list',
};
const plain = new Set(
  (
    '$schema $ref $comment type enum const title description default examples deprecated readOnly writeOnly ' +
    'required minProperties maxProperties minItems maxItems minLength maxLength pattern format ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'
  ).split(' '),
);
const types = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']);
const dialect = 'https://json-schema.org/draft/2020-12/schema';
const localRef = /^#\/\$defs\/([A-Za-z0-9_.-]{1,128})$/;

/**
 * Problems of an author's JSON Schema: keywords outside of the vocabulary, references to anything but `#/$defs/NAME`,
 * recursion, patterns that RE2 does not accept, and more subschemas than the limit after every reference is expanded,
 * because that number bounds the time of a check.
 */
export function checkSchema(root: JsonValue, at: SourcePath): readonly PlacedProblem[] {
  const problems: PlacedProblem[] = [];
  const report = (place: SourcePath, message: string) => void problems.push({ code: 'schema', at: place, message });
  const defs = isObject(root) && isObject(root['$defs']) ? root['$defs'] : {};

  function visit(schema: JsonValue | undefined, place: SourcePath, depth: number): undefined {
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) return report(place, 'must be a schema: an object, true or false');
    if (depth > flowLimits.schemaDepth) return report(place, `is nested deeper than ${flowLimits.schemaDepth} levels`);
    for (const [keyword, value] of Object.entries(schema)) {
      const here = [...place, keyword];
      if (keyword === '$defs' && depth > 1) report(here, 'belongs to the top of the schema');
      const holder = holders[keyword];
      if (holder === undefined && !plain.has(keyword)) report(here, 'is not a keyword that schemas of flows may use');
      else if (holder !== undefined) visitHolder(holder, value, here, depth);
      else visitPlain(keyword, value, here);
    }
  }

  function visitHolder(holder: Place, value: JsonValue, here: SourcePath, depth: number): undefined {
    if (holder === 'schema') return visit(value, here, depth + 1);
    const isList = Array.isArray(value) && value.length > 0;
    if (holder === 'list' ? !isList : !isObject(value)) {
      return report(here, holder === 'list' ? 'must be a list of schemas' : 'must be an object of schemas');
    }
    for (const [name, one] of Object.entries(value as object)) {
      visit(one as JsonValue, [...here, holder === 'list' ? Number(name) : name], depth + 1);
    }
  }

  function visitPlain(keyword: string, value: JsonValue, here: SourcePath): void {
    if (keyword === '$schema' && value !== dialect) report(here, `must be "${dialect}"`);
    if (keyword === 'type' && ![value].flat().every((one) => typeof one === 'string' && types.has(one))) {
      report(here, `must be one of ${[...types].join(', ')}, or a list of them`);
    }
    if (keyword === 'enum' && !(Array.isArray(value) && value.length > 0)) report(here, 'must be a list of values');
    if (keyword === 'pattern') {
      const pattern = typeof value === 'string' ? compileFlowPattern(value) : 'must be a text';
      if (typeof pattern === 'string') report(here, pattern);
    }
    if (keyword === '$ref') {
      const name = typeof value === 'string' ? localRef.exec(value)?.[1] : undefined;
      if (name === undefined) report(here, 'must be #/$defs/NAME: a schema cannot lead out of itself');
      else if (!Object.hasOwn(defs, name)) report(here, 'names nothing in $defs');
    }
  }

  visit(root, at, 1);
  if (problems.length > 0) return problems;
  const size = expandedSize(root, defs);
  if (size === 'recursive') report(at, 'refers to itself: write the levels that are needed');
  else if (size > flowLimits.schemaNodes) {
    report(at, `has more than ${flowLimits.schemaNodes} subschemas with its references expanded`);
  }
  return problems;
}

/** The number of subschemas with all references expanded, counted once for each definition. */
function expandedSize(root: JsonValue, defs: Members): number | 'recursive' {
  const sizes = new Map<string, number | 'open'>();
  let isRecursive = false;
  function sizeOf(schema: JsonValue): number {
    if (!isObject(schema)) return 1;
    let size = 1;
    for (const [keyword, value] of Object.entries(schema)) {
      const holder = holders[keyword];
      if (keyword === '$ref') size += sizeOfDefinition(String(value).slice('#/$defs/'.length));
      else if (holder === 'schema') size += sizeOf(value);
      // The references of definitions count at the places that use them; each definition is also visited once, so that
      // unused recursion is found.
      else if (keyword === '$defs') for (const name of Object.keys(value as object)) sizeOfDefinition(name);
      else if (holder !== undefined) for (const one of Object.values(value as object)) size += sizeOf(one);
    }
    return Math.min(size, flowLimits.schemaNodes + 1);
  }
  function sizeOfDefinition(name: string): number {
    const known = sizes.get(name);
    if (known === 'open') isRecursive = true;
    if (known !== undefined) return known === 'open' ? 0 : known;
    sizes.set(name, 'open');
    const size = sizeOf(defs[name] ?? true);
    sizes.set(name, size);
    return size;
  }
  const size = sizeOf(root);
  return isRecursive ? 'recursive' : size;
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
