import { componentSchemas } from '#api/openapi';
import {
  agentPageSchema,
  agentRecordSchema,
  catalogueErrorSchema,
  catalogueHealthSchema,
  foundAgentsSchema,
  searchAgentsSchema,
} from '#contracts/catalogue';

const written = { SearchAgentsRequest: searchAgentsSchema } as const;

const read = {
  Agent: agentRecordSchema,
  AgentPage: agentPageSchema,
  FoundAgents: foundAgentsSchema,
  Health: catalogueHealthSchema,
  Error: catalogueErrorSchema,
} as const;

export type CatalogueSchema = keyof typeof written | keyof typeof read;

/** The schemas of all bodies by name, as components of the OpenAPI documents. */
export function catalogueSchemas(): Readonly<Record<string, unknown>> {
  return componentSchemas({ written, read });
}
