import type { z } from 'zod';
import {
  type AgentRecord,
  agentPageSchema,
  agentRecordSchema,
  catalogueErrorSchema,
  catalogueLimits,
  foundAgentsSchema,
  type searchAgentsSchema,
} from '#contracts/catalogue';
import { createServiceCalls, type ServiceConnection } from '../http/service-calls.ts';

/** Filters of a list, by the names of the API. */
export type AgentListFilters = Readonly<
  Partial<Record<'workspaceId' | 'protocol' | 'implementationType' | 'state' | 'ownerIssuer' | 'ownerSubject', string>>
>;

/** The agent catalogue, one method for each operation. Every answer is validated. */
export type CatalogueClient = ReturnType<typeof createCatalogueClient>;

export function createCatalogueClient(connection: Omit<ServiceConnection, 'service' | 'readError'>) {
  const send = createServiceCalls({ ...connection, service: 'catalogue', readError: readCatalogueError });
  return {
    /** The agents that the caller may view, in the order of the catalogue. */
    async list(filters: AgentListFilters, most: number): Promise<readonly AgentRecord[]> {
      const items: AgentRecord[] = [];
      for (let cursor: string | null = ''; cursor !== null && items.length < most; ) {
        const query = new URLSearchParams(filters);
        query.set('limit', String(Math.min(most - items.length, catalogueLimits.pageSize.max)));
        if (cursor !== '') query.set('cursor', cursor);
        const page: z.output<typeof agentPageSchema> = await send('GET', `/api/v1/agents?${query}`, agentPageSchema);
        items.push(...page.items);
        cursor = page.nextCursor;
      }
      return items;
    },
    get: (agentId: string) => send('GET', `/api/v1/agents/${encodeURIComponent(agentId)}`, agentRecordSchema),
    search: (body: z.input<typeof searchAgentsSchema>) =>
      send('POST', '/api/v1/agents/search', foundAgentsSchema, body),
  };
}

function readCatalogueError(json: unknown) {
  return catalogueErrorSchema.safeParse(json).data?.error;
}
