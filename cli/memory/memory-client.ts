import type { z } from 'zod';
import {
  acceptedEventSchema,
  type addMemoriesSchema,
  deletedMemoriesSchema,
  deletedMemorySchema,
  erasureSchema,
  exportedMemorySchema,
  foundMemoriesSchema,
  memoryEventSchema,
  memoryHistorySchema,
  memoryLimits,
  memoryListSchema,
  memoryRecordSchema,
  type searchMemoriesSchema,
  sessionStateSchema,
  type setSessionSchema,
} from '#contracts/memory';
import { createServiceCalls, type ServiceConnection } from '../http/service-calls.ts';

export type MemoryEvent = z.output<typeof memoryEventSchema>;
type ExportedPage = z.output<typeof exportedMemorySchema>;
export type ListedMemory = z.output<typeof memoryRecordSchema>;
type MemoryScope = { readonly agent?: string; readonly run?: string };

/** The memory service, one method for each route. Every answer is validated. */
export type MemoryClient = ReturnType<typeof createMemoryClient>;

export function createMemoryClient(connection: Omit<ServiceConnection, 'service'>) {
  const send = createServiceCalls({ ...connection, service: 'memory' });
  const memory = (id: string): string => `/v1/memories/${encodeURIComponent(id)}`;
  const session = (id: string): string => `/v1/sessions/${encodeURIComponent(id)}/state`;
  return {
    /** Adds messages. A repeated request with the same key is the same add. */
    add: (body: z.input<typeof addMemoriesSchema>, key: string) =>
      send('POST', '/v1/memories', acceptedEventSchema, body, { 'idempotency-key': key }),
    getEvent: (id: string) => send('GET', `/v1/events/${encodeURIComponent(id)}`, memoryEventSchema),
    search: (body: z.input<typeof searchMemoriesSchema>) =>
      send('POST', '/v1/memories/search', foundMemoriesSchema, body),
    /** The newest memories of a scope. */
    async list(scope: MemoryScope, userId: string | undefined, most: number): Promise<readonly ListedMemory[]> {
      const items: ListedMemory[] = [];
      for (let token: string | null = ''; token !== null && items.length < most; ) {
        const query = scopeQuery(scope, userId);
        query.set('page_size', String(Math.min(most - items.length, memoryLimits.pageSize.max)));
        if (token !== '') query.set('page_token', token);
        const page: z.output<typeof memoryListSchema> = await send('GET', `/v1/memories?${query}`, memoryListSchema);
        items.push(...page.results);
        token = page.next_page_token;
      }
      return items;
    },
    get: (id: string) => send('GET', memory(id), memoryRecordSchema),
    update: (id: string, text: string) => send('PUT', memory(id), memoryRecordSchema, { text }),
    delete: (id: string) => send('DELETE', memory(id), deletedMemorySchema),
    deleteScope: (scope: MemoryScope) =>
      send('DELETE', `/v1/memories?${scopeQuery(scope, undefined)}`, deletedMemoriesSchema),
    history: (id: string) => send('GET', `${memory(id)}/history`, memoryHistorySchema),
    /** The pages of everything that the service holds of the caller. */
    async *export(): AsyncGenerator<ExportedPage, void, undefined> {
      for (let token: string | null = ''; token !== null; ) {
        const query: string = token === '' ? '' : `?${new URLSearchParams({ page_token: token })}`;
        const page: ExportedPage = await send('GET', `/v1/export${query}`, exportedMemorySchema);
        yield page;
        token = page.next_page_token;
      }
    },
    /** The id of the caller. */
    async whoAmI(): Promise<string> {
      return (await send('GET', '/v1/export?page_size=1', exportedMemorySchema)).user_id;
    },
    erase: (userId: string) => send('POST', '/v1/erasures', erasureSchema, { user_id: userId }),
    getSession: (id: string) => send('GET', session(id), sessionStateSchema),
    setSession: (id: string, body: z.input<typeof setSessionSchema>) =>
      send('POST', session(id), sessionStateSchema, body),
  };
}

function scopeQuery({ agent, run }: MemoryScope, userId: string | undefined): URLSearchParams {
  return new URLSearchParams({
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(run === undefined ? {} : { run_id: run }),
    ...(userId === undefined ? {} : { user_id: userId }),
  });
}
