import { componentSchemas } from '#api/openapi';
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

/** The schemas of all bodies by name, as components of the OpenAPI document. */
export function bodySchemas(): Readonly<Record<string, unknown>> {
  return componentSchemas({ written, read });
}
