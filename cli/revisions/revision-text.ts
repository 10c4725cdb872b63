import { definitionSchema } from '#contracts/policy';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import { yamlOf } from '../output/write.ts';

/** A revision as YAML, with members in the documented order. */
export function revisionText(spec: PolicyRevisionSpec): string {
  const { displayName, description, lifecycle, tests } = spec;
  const definition = inWrittenOrder(JSON.parse(spec.definition));
  return yamlOf({ displayName, description, lifecycle, definition, ...(tests.length === 0 ? {} : { tests }) });
}

/** Canonical JSON is sorted by name; the schema has the documented order. */
function inWrittenOrder(definition: unknown): unknown {
  const read = definitionSchema.safeParse(definition);
  return read.success ? read.data : definition;
}
