import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AgentPlaneWorld, agentId, startAgentPlane } from './testing/start-agent-plane.ts';
import { startJudgedImage, terms } from './testing/start-judged-image.ts';

let world: AgentPlaneWorld;
let image: Awaited<ReturnType<typeof startJudgedImage>>;

beforeAll(async () => {
  world = await startAgentPlane();
  world.allow('ann', 'invoke');
  image = await startJudgedImage(world);
});
afterAll(async () => {
  await image?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => image.process.forget());

type Sent = { readonly method?: string; readonly body?: string; readonly headers?: Readonly<Record<string, string>> };

/** The status and the code of an answer, and the request that reached the process. */
async function ask(path: string, sent: Sent = {}) {
  image.process.forget();
  const token = await world.personToken('ann');
  const answer = await world.call(`/agents/${agentId}${path}`, { token, ...sent });
  const [, code] = /"code":"([a-z_]+)"/.exec(await answer.text()) ?? [];
  const calls = image.process.seen.filter(({ headers }) => headers.authorization !== undefined);
  return { status: answer.status, code, calls: calls.length, seen: calls.at(-1) };
}

const passed = { status: 200, code: undefined, calls: 1 };
const denied = { status: 403, code: 'guardrail_denied', calls: 0 };

describe('a message of MCP for an image', () => {
  beforeAll(async () => {
    image.play((response, { text }) => {
      const { id } = JSON.parse(text) as { readonly id: unknown };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
    await image.serve('MCP');
  });
  const post = (message: object) => ask('/mcp', { body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const call = { method: 'tools/call', params: { name: 'ask', arguments: {} } };

  test.each(['ping', 'initialize', 'tools/list', 'notifications/cancelled'])(
    'the member name of an MCP message that calls no tool is judged: %s',
    async (method) => {
      for (const name of [terms.denied, { text: terms.denied }, { [terms.denied]: 1 }, [[terms.denied]]]) {
        expect(await post({ id: 1, method, params: { name } })).toMatchObject(denied);
      }
      expect(await post({ id: 1, method, params: { name: 'fine' } })).toMatchObject(passed);
    },
  );

  test('an MCP call reaches the process of an image with the name of the tool, and with masked arguments', async () => {
    const params = { name: 'ask', arguments: { text: terms.masked } };
    const { seen, ...outcome } = await post({ id: 1, ...call, params });
    expect(outcome).toMatchObject(passed);
    expect(JSON.parse(seen?.text ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'ask', arguments: { text: '***' } },
    });
  });

  test.each([0, 999_999, 1_000_000, 'a1b2c3d4-0', 'request-7', randomUUID(), randomUUID().replaceAll('-', '')])(
    'an MCP message with an id of an SDK reaches the process of an image: %s',
    async (id) => {
      const { seen, ...outcome } = await post({ id, ...call });
      expect([outcome, JSON.parse(seen?.text ?? '')]).toMatchObject([passed, { id }]);
    },
  );

  test.each([`about ${terms.denied}`, terms.masked, `${randomUUID()}${terms.denied}`])(
    'an MCP message with an id that the policy denies or masks is denied: %s',
    async (id) => {
      expect(await post({ id, ...call })).toMatchObject(denied);
    },
  );
});

describe('the path, the query and the headers of a call of an image', () => {
  beforeAll(async () => {
    image.play((response) => void response.end('{"tasks":[]}'));
    await image.serve('A2A');
  });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) => ask(path, { method: 'GET', headers });

  test('a query whose values have fixed forms, and a text that passes, reach the process of an image', async () => {
    const query = new URLSearchParams({
      contextId: randomUUID(),
      status: 'TASK_STATE_INPUT_REQUIRED',
      pageSize: '20',
      pageToken: 'next page',
      historyLength: '3',
      statusTimestampAfter: '2026-01-02T03:04:05Z',
      includeArtifacts: 'true',
    });
    const { seen, ...outcome } = await get(`/tasks?${query}`);
    expect([outcome, seen?.path]).toEqual([expect.objectContaining(passed), `/tasks?${query}`]);
  });

  test.each([
    ...['contextId', 'status', 'pageSize', 'pageToken', 'historyLength', 'statusTimestampAfter', 'includeArtifacts'],
    'A2A-Version',
  ])('a text in the parameter %s that the policy denies or masks is denied, however it is encoded', async (name) => {
    const escaped = [...terms.denied].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    for (const value of [terms.denied, escaped, `a+${terms.denied}`, terms.masked]) {
      expect(await get(`/tasks?${name}=${value}`)).toMatchObject(denied);
    }
  });

  test('a parameter that A2A does not have does not reach the process of an image', async () => {
    const { seen, ...outcome } = await get(`/tasks?note=${terms.denied}`);
    expect([outcome, seen?.path]).toEqual([expect.objectContaining(passed), '/tasks']);
  });

  test('the id of a task is judged unless it is a UUID', async () => {
    expect(await get(`/tasks/${randomUUID()}`)).toMatchObject(passed);
    expect(await get('/tasks/task-7')).toMatchObject(passed);
    for (const id of [terms.denied, `a.${terms.masked}`]) {
      expect(await get(`/tasks/${id}`)).toMatchObject(denied);
      expect(await ask(`/tasks/${id}:cancel`, { body: '{}' })).toMatchObject(denied);
      expect(await get(`/tasks/${id}:subscribe`)).toMatchObject(denied);
    }
  });

  test('headers with fixed forms reach the process of an image', async () => {
    const headers = {
      accept: 'application/json, text/event-stream;q=0.9, */*',
      'content-type': 'application/json; charset=utf-8',
      'a2a-version': '1.0',
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': randomUUID(),
      'last-event-id': '7',
      'a2a-extensions': 'https://extensions.example/timestamps/v1',
    };
    const { seen, ...outcome } = await get('/tasks', headers);
    expect([outcome, seen?.headers]).toMatchObject([passed, headers]);
  });

  test('headers in other forms do not reach the process of an image', async () => {
    const text = `about ${terms.denied}`;
    const names = ['content-type', 'a2a-version', 'mcp-protocol-version', 'last-event-id', 'origin'];
    const headers = { ...Object.fromEntries(names.map((name) => [name, text])), accept: `application/json, ${text}` };
    const { seen, ...outcome } = await get('/tasks', headers);
    expect(outcome).toMatchObject(passed);
    expect([seen?.headers.accept, ...names.map((name) => seen?.headers[name])]).toEqual([
      'application/json',
      ...names.map(() => undefined),
    ]);
  });

  test.each([
    ['application/json; charset=utf8', 'application/json'],
    [`text/plain; about=${terms.denied}`, 'application/json'],
    ['application/a2a+json', 'application/a2a+json'],
  ])('a judged body sent as %s reaches the process as %s', async (sent, received) => {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'fine' }] };
    const headers = { 'content-type': sent };
    const { seen, ...outcome } = await ask('/message:send', { body: JSON.stringify({ message }), headers });
    expect([outcome, seen?.headers['content-type']]).toEqual([expect.objectContaining(passed), received]);
  });

  test('the ranges of the header accept reach the process without parameters other than their weights', async () => {
    const accept = [
      `application/json; charset=utf-8; about=${terms.denied}`,
      'text/event-stream;profile="a";q=0.5;q=0.7',
      `text/html; q=0.4`,
      `*/*; q=${terms.denied}`,
    ].join(', ');
    const { seen, ...outcome } = await get('/tasks', { accept });
    expect([outcome, seen?.headers.accept]).toEqual([
      expect.objectContaining(passed),
      'application/json, text/event-stream;q=0.5, */*',
    ]);
  });

  test.each(['mcp-session-id', 'a2a-extensions'])(
    'a text in the header %s that the policy denies or masks is denied',
    async (name) => {
      for (const text of [terms.denied, terms.masked])
        expect(await get('/tasks', { [name]: text })).toMatchObject(denied);
      expect(await get('/tasks', { [name]: 'fine' })).toMatchObject(passed);
    },
  );

  test('an image whose input is declared unguarded receives path, query and headers unchanged', async () => {
    await image.serve('A2A', { guardrails: { input: { mode: 'None' }, output: { mode: 'None' } } });
    const { seen, ...outcome } = await get(`/tasks/${terms.denied}?pageToken=${terms.denied}`, {
      origin: terms.denied,
    });
    expect([outcome, seen]).toMatchObject([
      passed,
      { path: `/tasks/${terms.denied}?pageToken=${terms.denied}`, headers: { origin: terms.denied } },
    ]);
  });
});
