import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import type { OpenedMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { openProductionMemory, type ProductionMemory } from './production-memory.ts';

type Found = { readonly id: string; readonly memory: string };
describe.skipIf(missingPostgres !== undefined)(
  onPostgres('clients with tokens at two replicas of the API and a worker'),
  () => {
    let world: ProductionMemory;
    beforeAll(async () => {
      world = await openProductionMemory();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    /** Connects the official MCP client to one replica. */
    async function connect(token: string, replica: OpenedMemory): Promise<Client & AsyncDisposable> {
      const client = new Client({ name: 'test', version: '1.0.0' });
      const headers = { 'x-tenant-id': 'acme', authorization: `Bearer ${token}` };
      const transport = new StreamableHTTPClientTransport(new URL(`${replica.url}/v1/mcp`), {
        requestInit: { headers },
      });
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
    }
    const foundBy = async (client: Client, query: string): Promise<readonly Found[]> => {
      const answer = await client.callTool({ name: 'search_memories', arguments: { query } });
      return (answer.structuredContent as { readonly results: readonly Found[] }).results;
    };

    test('the MCP client remembers at one replica, finds and forgets at the other, and reads nothing of another user', async () => {
      const token = await world.tokenOf('ann');
      await using one = await connect(token, world.replicas[0]);
      await using other = await connect(token, world.replicas[1]);
      const remember = { name: 'remember', arguments: { fact: 'Ann plays the violin.', agent_id: 'tutor' } };
      expect((await one.callTool(remember)).structuredContent).toMatchObject({ status: 'PENDING' });
      const [found] = await until('the worker has stored the fact', async () => {
        const results = await foundBy(other, 'violin');
        return results.length > 0 ? results : undefined;
      });
      expect(found?.memory).toBe('Ann plays the violin.');
      await using bobs = await connect(await world.tokenOf('bob'), world.replicas[0]);
      expect(await foundBy(bobs, 'violin')).toEqual([]);
      const forget = { name: 'forget', arguments: { memory_id: found?.id ?? '' } };
      expect(await bobs.callTool(forget)).toMatchObject({ isError: true });
      expect(await foundBy(one, 'violin')).toHaveLength(1);
      expect((await other.callTool(forget)).isError).not.toBe(true);
      // A deletion at one replica is visible at the other replica with the next request.
      expect(await foundBy(one, 'violin')).toEqual([]);
    });

    test.each([
      ['of another audience', { aud: 'other' }],
      ['without an act chain', { act: undefined }],
      ['that has expired', { exp: 1 }],
    ])('the MCP client cannot connect with a token %s', async (_what, claims) => {
      await expect(connect(await world.tokenOf('ann', claims), world.replicas[0])).rejects.toThrow();
    });
  },
);
