import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonValue } from '#kit/json/json-value';
import { compileFlowPattern } from '../expressions/pattern.ts';
import type { SourcePath } from '../source/problem.ts';

/** The JSON Pointers of the parts that do not match, at most one pointer; empty if the value matches. */
export type SchemaCheck = (value: JsonValue) => readonly string[];

/** Why the engine refuses a schema, and the place inside of it. */
type SchemaRefusal = { readonly place: SourcePath; readonly message: string };

/**
 * The engine compiles patterns with this function, so that no pattern of an author runs in an engine that backtracks.
 */
const regExp = Object.assign(
  (source: string) => {
    const pattern = compileFlowPattern(source);
    return typeof pattern === 'string' ? { test: () => false } : pattern;
  },
  { code: 'RE2' },
);

/**
 * Checks schemas against their own schema, which is compiled once, because compiling it takes longer than any schema of
 * a flow.
 */
const dialect = new Ajv2020({ strict: false, logger: false });

/**
 * Compiles a schema that `checkSchema` accepted, or returns the reason why the engine refuses it, such as a negative minLength.
 * `format` is an annotation.
 */
export function compileSchema(schema: JsonValue): SchemaCheck | SchemaRefusal {
  const refused = 'is not a valid JSON Schema of 2020-12';
  const ajv = new Ajv2020({
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    inlineRefs: false,
    logger: false,
    code: { regExp: regExp as never },
  });
  try {
    if (dialect.validateSchema(schema as object | boolean) !== true) {
      const [first] = dialect.errors ?? [];
      const message = first?.message === undefined ? refused : `${refused}: ${first.message}`;
      return { place: placeOf(first?.instancePath ?? '', schema), message };
    }
    // The engine has no schema for the dialect itself and does not know its name, which `checkSchema` has already
    // compared.
    const { $schema: _, ...rest } = typeof schema === 'object' && !Array.isArray(schema) ? { ...schema } : {};
    const check = ajv.compile(typeof schema === 'boolean' ? schema : rest);
    return (value) => {
      if (check(value)) return [];
      return (check.errors ?? []).slice(0, 1).map(({ instancePath }) => instancePath);
    };
  } catch {
    return { place: [], message: refused };
  }
}

/** The path that a JSON Pointer (RFC 6901) into the schema names. */
function placeOf(pointer: string, schema: JsonValue): SourcePath {
  const place: (string | number)[] = [];
  let at: unknown = schema;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    place.push(Array.isArray(at) ? Number(name) : name);
    at = typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined;
  }
  return place;
}
