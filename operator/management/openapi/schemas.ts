import { z } from 'zod';
import {
  bindingReadSchema,
  bindingWriteSchema,
  managementErrorSchema,
  operationSchema,
  policyCreateSchema,
  policyDetailSchema,
  policyListSchema,
  policyReplaceSchema,
  policySummarySchema,
  providerListSchema,
  revisionListSchema,
} from '#contracts/management';
import { definitionSchema, sectionSchema } from '#contracts/policy';

const written = {
  PolicyCreate: policyCreateSchema,
  PolicyReplace: policyReplaceSchema,
  BindingWrite: bindingWriteSchema,
  Definition: definitionSchema,
  Section: sectionSchema,
} as const;

const read = {
  Policy: policyDetailSchema,
  PolicySummary: policySummarySchema,
  PolicyList: policyListSchema,
  RevisionList: revisionListSchema,
  ProviderList: providerListSchema,
  Binding: bindingReadSchema,
  Operation: operationSchema,
  Error: managementErrorSchema,
  Definition: definitionSchema,
  Section: sectionSchema,
} as const;

export type SchemaName = keyof typeof written | keyof typeof read;

/** The schemas of all bodies, JSON Schema 2020-12, by name. */
export function componentSchemas(): Readonly<Record<string, unknown>> {
  const all = { ...generate(written, 'input'), ...generate(read, 'output') };
  return Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function generate(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: made } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(made).map(([id, schema]) => [id, cleaned(schema)]));
}

/** Without what a component does not need: its own address, and the long pattern of a date, which its format says. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  const isDate = 'format' in value && value.format === 'date-time';
  const entries = Object.entries(value).filter(([key]) => {
    if (key === '$schema' || key === '$id' || key === 'id') return typeof (value as never)[key] === 'object';
    return !(isDate && key === 'pattern');
  });
  return Object.fromEntries(entries.map(([key, inner]) => [key, cleaned(inner)]));
}
