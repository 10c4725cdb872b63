import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const openEvents = 2;

describe.skipIf(missingPostgres !== undefined)(onPostgres('the MCP server of a process without a worker'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    const quota = { userMemories: 100, tenantUsers: 100, tenantOpenEvents: openEvents };
    memory = await openMemory({ config: { role: 'api', quota } });
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  const tool = async (name: string, args: object) => {
    const params = { name, arguments: args };
    const { status, json } = await memory.call(ann, 'POST', '/v1/mcp', {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    });
    expect(status).toBe(200);
    return json['result'] as {
      readonly isError?: boolean;
      readonly content: readonly { readonly text: string }[];
      readonly structuredContent?: Readonly<Record<string, unknown>>;
    };
  };

  test('a fact is pending and not stored until a worker runs, and beyond the quota its tool answers with an error', async () => {
    const accepted: string[] = [];
    for (const fact of ['Ann plays the violin.', 'Ann sails a boat.']) {
      const { structuredContent: answer } = await tool('remember', { fact, agent_id: 'tutor' });
      expect(answer).toEqual({ event_id: expect.any(String), status: 'PENDING' });
      accepted.push(answer?.['event_id'] as string);
    }
    const refused = await tool('remember', { fact: 'Ann keeps bees.', agent_id: 'tutor' });
    expect(refused).toMatchObject({ isError: true });
    expect(refused).not.toHaveProperty('structuredContent');
    expect(JSON.parse(refused.content[0]?.text ?? '')).toMatchObject({ code: 'rate_limited' });
    for (const id of accepted) {
      const event = await memory.call(ann, 'GET', `/v1/events/${id}`);
      expect(event).toMatchObject({ status: 200, json: { status: 'PENDING', memory_ids: [] } });
    }
    const search = { query: 'violin boat', top_k: 5 };
    expect((await tool('search_memories', search)).structuredContent).toMatchObject({ results: [] });
    expect(await memory.all(ann)).toEqual([]);

    await using _worker = await openMemory({ database: memory.database, config: { role: 'worker' } });
    await until('both facts are stored', async () => (await memory.all(ann)).length === openEvents);
    expect((await tool('search_memories', search)).structuredContent?.['results']).toHaveLength(openEvents);
  });
});
