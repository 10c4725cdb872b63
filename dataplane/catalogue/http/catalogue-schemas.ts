import { componentSchemas } from '#api/openapi';
import { agentPageSchema, agentRecordSchema, catalogueErrorSchema, catalogueHealthSchema } from '#contracts/catalogue';

const read = {
  Agent: agentRecordSchema,
  AgentPage: agentPageSchema,
  Health: catalogueHealthSchema,
  Error: catalogueErrorSchema,
} as const;

export type CatalogueSchema = keyof typeof read;

/** The schemas of all bodies by name, as components of the OpenAPI documents. */
export function catalogueSchemas(): Readonly<Record<string, unknown>> {
  return componentSchemas({ written: {}, read });
}
