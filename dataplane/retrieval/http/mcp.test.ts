import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['board'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the MCP server of the retrieval service'), () => {
  let service: OpenedRetrieval;
  let isModelAway = false;

  /** The official client of the protocol. */
  async function connect(user: string, groups: string): Promise<Client & AsyncDisposable> {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const headers = { 'x-tenant-id': 'acme', 'x-user-id': user, 'x-groups': groups };
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/v1/mcp`), { requestInit: { headers } });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
  }
  const call = (client: Client, name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  const post = (body: unknown, headers: Record<string, string> = {}) => service.call(ann, '/v1/mcp', body, headers);

  beforeAll(async () => {
    const models = scriptedModels(() => {
      if (isModelAway) throw new ModelsError('unavailable');
    });
    service = await openRetrieval({ overrides: { models } });
    const body = { name: 'handbook', visibility: 'public', embedding_profile_id: 'test-profile' };
    expect((await service.call(ann, '/v1/collections', body)).status).toBe(201);
    await service.ingest(ann, [
      documentOf('handbook', 'travel', 'Hotels cost at most 180 euros.'),
      documentOf('handbook', 'plans', 'Hotels of the board.', { acl: { groups: ['board'] } }),
    ]);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test('the official client connects, lists the tools and gets the citations of its user', async () => {
    await using client = await connect('ann', 'staff');
    expect(client.getServerVersion()).toMatchObject({ name: 'portcullis-retrieval' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_collections', 'search_documents', 'pack_documents']);
    for (const { inputSchema, annotations } of tools) {
      expect([inputSchema.type, annotations?.readOnlyHint]).toEqual(['object', true]);
    }
    const listed = await call(client, 'list_collections', {});
    expect(listed.structuredContent).toMatchObject({ collections: [{ name: 'handbook' }] });
    const after = await call(client, 'list_collections', { after: 'handbook' });
    expect(after.structuredContent).toEqual({ collections: [] });
    const found = await call(client, 'search_documents', { collection: 'handbook', text: 'hotels', mode: 'bm25' });
    expect(found.structuredContent).toMatchObject({ items: [{ doc_id: 'travel', title: 'Title of travel' }] });
    const text = (found.content as readonly { readonly text: string }[])[0]?.text ?? '';
    expect(JSON.parse(text)).toEqual(found.structuredContent);
    const packed = await call(client, 'pack_documents', { collection: 'handbook', text: 'hotels', token_budget: 50 });
    expect(packed.structuredContent).toMatchObject({ packed_context: expect.stringContaining('180 euros') });
  });

  test('a tool has the same rights of the user as the same operation over HTTP', async () => {
    await using client = await connect('bob', 'board');
    const search = { collection: 'handbook', text: 'hotels', mode: 'bm25' };
    const found = await call(client, 'search_documents', search);
    const { json } = await service.call(bob, '/v1/query', search);
    expect(found.structuredContent).toMatchObject({ items: json['items'] });
    expect(JSON.stringify(found)).not.toContain('travel');
    const anonymous = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await service.call({}, '/v1/mcp', anonymous)).status).toBe(401);
  });

  test('a mistake that the model can correct is a tool error that names its place', async () => {
    await using client = await connect('ann', 'staff');
    const refusals = [
      [{ collection: 'handbook' }, 'invalid_document', 'text'],
      [{ collection: 'handbook', text: 'a', top_k: 101 }, 'invalid_document', 'top_k'],
      [{ collection: 'handbook', text: 'a', other: 1 }, 'invalid_document', 'unknown field'],
      [{ collection: 'absent', text: 'a' }, 'not_found', 'no such'],
    ] as const;
    for (const [args, code, words] of refusals) {
      const { isError, content, structuredContent } = await call(client, 'search_documents', args);
      expect([isError, structuredContent]).toEqual([true, undefined]);
      const told = JSON.parse((content as readonly { readonly text: string }[])[0]?.text ?? '');
      expect(told).toEqual({ code, message: expect.stringContaining(words) });
    }
  });

  test('an unavailable dependency is a 503 of the request, never an empty answer', async () => {
    isModelAway = true;
    const params = { name: 'search_documents', arguments: { collection: 'handbook', text: 'hotels', mode: 'vector' } };
    const answer = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    isModelAway = false;
    expect(answer).toMatchObject({ status: 503, json: { code: 'unavailable' } });
  });

  test('a notification is accepted without a body, and an invalid message is refused', async () => {
    const accepted = await fetch(`${service.url}/v1/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', 'x-user-id': 'ann' },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    });
    expect([accepted.status, await accepted.text()]).toEqual([202, '']);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(await post(ping)).toMatchObject({ status: 200, json: { result: {} } });
    expect((await post([ping])).status).toBe(400);
    expect((await post({ ...ping, jsonrpc: '1.0' })).status).toBe(400);
    expect((await post(ping, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(ping, { 'mcp-protocol-version': '2024-11-05' })).status).toBe(400);
    expect((await post(ping, { 'mcp-protocol-version': '2025-11-25' })).status).toBe(200);
    expect((await service.call(ann, '/v1/mcp')).status).toBe(405);
    expect((await service.send(ann, 'DELETE', '/v1/mcp')).status).toBe(405);
  });
});
