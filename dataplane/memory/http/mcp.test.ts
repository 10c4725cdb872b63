import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const bob = { user: 'bob' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the MCP server of the memory service'), () => {
  let memory: OpenedMemory;
  let isModelAway = false;
  let isTextDenied = false;

  /** The official client of the protocol. */
  async function connect(
    { user }: { readonly user: string },
    tenant = 'acme',
    more: Readonly<Record<string, string>> = {},
  ): Promise<Client & AsyncDisposable> {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const headers = { 'x-tenant-id': tenant, 'x-user-id': user, ...more };
    const transport = new StreamableHTTPClientTransport(new URL(`${memory.url}/v1/mcp`), { requestInit: { headers } });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
  }
  const call = (client: Client, name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    memory.call(ann, 'POST', '/v1/mcp', body, headers);
  const toldBy = ({ content }: Awaited<ReturnType<typeof call>>) =>
    JSON.parse((content as readonly { readonly text: string }[])[0]?.text ?? '') as Readonly<Record<string, unknown>>;
  const remember = async (client: Client, caller: { user: string }, fact: string) => {
    const { event_id } = (await call(client, 'remember', { fact, agent_id: 'tutor' })).structuredContent as {
      readonly event_id: string;
    };
    return until('the event has ended', async () => {
      const event = (await memory.call(caller, 'GET', `/v1/events/${event_id}`)).json;
      return event['status'] === 'PENDING' ? undefined : ((event['memory_ids'] as readonly string[])[0] ?? 'none');
    });
  };

  beforeAll(async () => {
    const models = hashedWords(() => {
      if (isModelAway) throw new ModelsError('unavailable');
      if (isTextDenied) throw new ModelsError('denied');
    });
    memory = await openMemory({ overrides: { models } });
  });
  afterAll(() => memory?.[Symbol.asyncDispose]());

  test('the official client remembers a fact, finds it, and forgets it', async () => {
    await using client = await connect(ann);
    expect(client.getServerVersion()).toMatchObject({ name: 'portcullis-memory' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['remember', false],
      ['get_event', true],
      ['search_memories', true],
      ['forget', false],
    ]);
    const accepted = await call(client, 'remember', { fact: 'Ann plays the violin.', agent_id: 'tutor' });
    expect(accepted.structuredContent).toEqual({ event_id: expect.any(String), status: 'PENDING' });
    expect(toldBy(accepted)).toEqual(accepted.structuredContent);
    const id = await remember(client, ann, 'Ann sails a boat.');
    const search = { query: 'violin', top_k: 1, token_budget: 100 };
    const found = await call(client, 'search_memories', search);
    expect(found.structuredContent).toMatchObject({
      results: [{ memory: 'Ann plays the violin.', agent_id: 'tutor' }],
    });
    const forgotten = await call(client, 'forget', { memory_id: id });
    expect(forgotten.structuredContent).toMatchObject({ id });
    const left = await call(client, 'search_memories', { query: 'boat violin' });
    expect(left.structuredContent).toMatchObject({ results: [{ memory: 'Ann plays the violin.' }] });
    expect((await memory.call(ann, 'GET', `/v1/memories/${id}`)).status).toBe(404);
  });

  test('a client that sends one Idempotency-Key with every message remembers each fact, and a repeated fact once', async () => {
    await using client = await connect({ user: 'cleo' }, 'acme', { 'idempotency-key': 'set-once-for-the-server' });
    const cleo = { user: 'cleo' };
    const facts = ['Cleo likes figs.', 'Cleo lives in Naxos.', 'Cleo likes figs.'];
    for (const fact of facts) await remember(client, cleo, fact);
    const { results } = (await call(client, 'search_memories', { query: 'Cleo' })).structuredContent as {
      readonly results: readonly { readonly memory: string }[];
    };
    expect(results.map(({ memory: text }) => text).toSorted()).toEqual(facts.slice(0, 2));
  });

  test('a tool reads, stores and deletes with the rights of the calling user only', async () => {
    await using anns = await connect(ann);
    await using bobs = await connect(bob);
    await using others = await connect(ann, 'other');
    const id = await remember(anns, ann, 'Ann keeps bees.');
    for (const client of [bobs, others]) {
      const found = await call(client, 'search_memories', { query: 'bees' });
      expect(found.structuredContent).toMatchObject({ results: [], tokens_returned: 0 });
      const refused = await call(client, 'forget', { memory_id: id });
      expect([refused.isError, toldBy(refused)['code']]).toEqual([true, 'not_found']);
    }
    const foreign = await call(bobs, 'search_memories', { query: 'bees', filters: { user_id: 'ann' } });
    expect([foreign.isError, toldBy(foreign)['code']]).toEqual([true, 'wrong_user_id']);
    await remember(bobs, bob, 'Bob keeps geese.');
    expect(await memory.all(bob)).toEqual(['Bob keeps geese.']);
    const { json } = await memory.call(ann, 'POST', '/v1/memories/search', { query: 'bees' });
    const found = await call(anns, 'search_memories', { query: 'bees' });
    expect(found.structuredContent).toEqual(json);
    expect(JSON.stringify(found)).toContain('Ann keeps bees.');
    const anonymous = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await memory.call({}, 'POST', '/v1/mcp', anonymous)).status).toBe(401);
  });

  test('a tool returns the outcome of remembering, with the reason of a failure, to the calling user only', async () => {
    await using client = await connect(ann);
    const ended = async (fact: string) => {
      const { event_id } = (await call(client, 'remember', { fact, agent_id: 'tutor' })).structuredContent as {
        readonly event_id: string;
      };
      const event = await until('the event has ended', async () => {
        const shown = (await call(client, 'get_event', { event_id })).structuredContent as { readonly status: string };
        return shown.status === 'PENDING' ? undefined : shown;
      });
      expect(event).toEqual((await memory.call(ann, 'GET', `/v1/events/${event_id}`)).json);
      return { ...event, event_id };
    };
    const stored = await ended('Ann grows figs.');
    expect(stored).toMatchObject({ status: 'SUCCEEDED', error: null, decisions: [{ decision: 'ADD', reason: 'new' }] });
    isTextDenied = true;
    const failed = await ended('Ann says what is denied.');
    isTextDenied = false;
    expect(failed).toMatchObject({ status: 'FAILED', memory_ids: [], error: expect.stringContaining('denied') });
    await using bobs = await connect(bob);
    const refused = await call(bobs, 'get_event', { event_id: stored.event_id });
    expect([refused.isError, toldBy(refused)['code']]).toEqual([true, 'not_found']);
  });

  test('a mistake that the model can correct is a tool error that names its place', async () => {
    await using client = await connect(ann);
    const absent = '01890000-0000-7000-8000-000000000000';
    const refusals = [
      ['remember', { fact: 'x' }, 'invalid_request', 'agent_id'],
      ['remember', { fact: '', agent_id: 'a' }, 'invalid_request', 'fact'],
      ['remember', { fact: ' \n', agent_id: 'a' }, 'invalid_request', 'fact must not be blank'],
      [
        'remember',
        { fact: 'x'.repeat(memoryLimits.memoryLength + 1), agent_id: 'a' },
        'invalid_request',
        'at most 8192',
      ],
      ['remember', { fact: 'a\u0000b', agent_id: 'a' }, 'invalid_request', 'U+0000'],
      ['remember', { fact: 'x', agent_id: 'a', user_id: 'bob' }, 'invalid_request', 'unknown field'],
      ['search_memories', {}, 'invalid_request', 'query'],
      ['search_memories', { query: 'x', top_k: 101 }, 'invalid_request', 'top_k'],
      ['search_memories', { query: 'x', other: 1 }, 'invalid_request', 'unknown field'],
      ['search_memories', { query: 'x', filters: { agent_id: { near: 1 } } }, 'invalid_request', 'filters.agent_id'],
      ['get_event', { event_id: 'last' }, 'invalid_request', 'event_id'],
      ['get_event', { event_id: absent }, 'not_found', ''],
      ['forget', {}, 'invalid_request', 'memory_id'],
      ['forget', { memory_id: '../erasures' }, 'invalid_request', 'memory_id'],
      ['forget', { memory_id: absent }, 'not_found', ''],
    ] as const;
    for (const [name, args, code, words] of refusals) {
      const answer = await call(client, name, args);
      expect([name, args, answer.isError, answer.structuredContent]).toEqual([name, args, true, undefined]);
      expect(toldBy(answer)).toEqual({ code, message: expect.stringContaining(words) });
    }
    const longest = await call(client, 'remember', { fact: 'x'.repeat(memoryLimits.memoryLength), agent_id: 'a' });
    expect(longest.structuredContent).toMatchObject({ status: 'PENDING' });
  });

  test('an unavailable dependency is a 503 of the request, never an empty answer', async () => {
    isModelAway = true;
    const params = { name: 'search_memories', arguments: { query: 'violin' } };
    const answer = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    isModelAway = false;
    expect(answer).toMatchObject({ status: 503, json: { code: 'unavailable' } });
  });

  test('a notification is accepted without a body, and an invalid message is refused', async () => {
    const accepted = await fetch(`${memory.url}/v1/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', 'x-user-id': 'ann' },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    });
    expect([accepted.status, await accepted.text()]).toEqual([202, '']);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(await post(ping)).toMatchObject({ status: 200, json: { result: {} } });
    expect((await post([ping])).status).toBe(400);
    expect((await post(ping, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(ping, { 'mcp-protocol-version': '2024-11-05' })).status).toBe(400);
    expect((await memory.call(ann, 'GET', '/v1/mcp')).status).toBe(405);
    expect((await memory.call(ann, 'DELETE', '/v1/mcp')).status).toBe(405);
  });
});
