import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';
import { startJudgedImage, terms } from './testing/start-judged-image.ts';

let world: AgentPlaneWorld;
let image: Awaited<ReturnType<typeof startJudgedImage>>;
const none = { mode: 'None' } as const;
const unguarded = { guardrails: { input: none, output: none } };

beforeAll(async () => {
  // Runs of streams that are refused count for a while.
  world = await startAgentPlane({ atOnce: 1_000, perMinute: 10_000 });
  world.allow('ann', 'invoke');
  image = await startJudgedImage(world);
});
afterAll(async () => {
  await image?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => image.process.forget());

function serve(mode: 'A2A' | 'MCP', more: object = {}): Promise<void> {
  const { limits } = routedVersion(image.process);
  return image.serve(mode, { limits: { ...limits, concurrency: 64 }, ...more });
}

/** The status, the code and the text of an answer, and the texts that reached the process. */
async function post(path: string, body: object) {
  image.process.forget();
  const token = await world.personToken('ann');
  const answer = await world.call(`/agents/${agentId}/${path}`, { token, body: JSON.stringify(body) });
  const text = await answer.text();
  const [, code] = /"code":"([a-z_]+)"/.exec(text) ?? [];
  const sent = image.process.seen.filter(({ headers }) => headers.authorization !== undefined).map((one) => one.text);
  return { status: answer.status, code, text, sent };
}

const hello = { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
const id = randomUUID();
/** Two pieces of a denied term, which are one text only if they are judged together. */
const [begin, end] = [terms.denied.slice(0, 4), terms.denied.slice(4)];
const file = { url: 'https://files.example/a' };

function streamOf(events: readonly object[]) {
  image.play((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  return post('message:stream', hello);
}

describe('the events of an image whose answers are judged', () => {
  beforeAll(() => serve('A2A'));
  const update = (parts: readonly object[], more: object = {}) => ({ artifact: { artifactId: id, parts }, ...more });
  const working = { state: 'TASK_STATE_WORKING' };

  test.each<[string, (first: object) => object]>([
    ['artifact_update', (first: object) => ({ artifact_update: first })],
    ['ArtifactUpdate', (first: object) => ({ ArtifactUpdate: first })],
    ['artifactUpdate beside another member', (first: object) => ({ artifactUpdate: first, metadata: {} })],
    [
      'artifact_update beside statusUpdate',
      (first: object) => ({ statusUpdate: { status: working }, artifact_update: first }),
    ],
    ['kind, as in A2A 0.3', (first: object) => ({ kind: 'artifact-update', ...first })],
    ['a result of JSON-RPC', (first: object) => ({ jsonrpc: '2.0', id: 1, result: { artifactUpdate: first } })],
    ['a result alone', (first: object) => ({ result: { artifactUpdate: first } })],
  ])('an update of an artifact as %s does not reach the client, in pieces or with a file', async (_, eventOf) => {
    const pieces = [update([{ text: begin }]), update([{ text: end }], { append: true, lastChunk: true })];
    for (const events of [pieces, [update([file])]]) {
      const answer = await streamOf(events.map(eventOf));
      expect(answer).toMatchObject({ status: 502, code: 'answer_refused' });
    }
  });

  test.each<[string, object]>([
    ['no member', {}],
    ['a member that is null', { task: null }],
    ['a member that is a list', { artifactUpdate: [update([{ text: 'a' }])] }],
    ['an unknown member', { note: { text: 'a' } }],
    ['status_update', { status_update: { status: { ...working, message: { parts: [file] } } } }],
    ['Parts in an artifact', { artifactUpdate: { artifact: { artifactId: id, parts: [], Parts: [file] } } }],
    ['two ids of an artifact', { artifactUpdate: { artifact: { artifactId: id, artifact_id: 'b', parts: [] } } }],
    ['last_chunk', { artifactUpdate: update([{ text: 'a' }], { last_chunk: true }) }],
    ['Append', { artifactUpdate: update([{ text: 'a' }], { Append: true }) }],
    ['Raw in a part', { artifactUpdate: update([{ Raw: 'AAAA' }], { lastChunk: true }) }],
    [
      'media_type in a part',
      { artifactUpdate: update([{ text: 'a', media_type: 'text/plain' }], { lastChunk: true }) },
    ],
    ['Status in a task', { task: { id, status: working, Status: { message: { parts: [file] } } } }],
    ['Message in a status', { statusUpdate: { status: { ...working, Message: { parts: [file] } } } }],
    ['message_id in a message', { message: { messageId: id, message_id: 'b', parts: [{ text: 'a' }] } }],
    ['partſ in a message', { message: { messageId: id, partſ: [file] } }],
  ])('an event with %s is refused', async (_, event) => {
    expect(await streamOf([event])).toMatchObject({ status: 502, code: 'answer_refused' });
  });

  test('every event of A2A in its one spelling reaches the client', async () => {
    const events = [
      { task: { id, contextId: id, status: working } },
      { statusUpdate: { taskId: id, contextId: id, status: working, metadata: { status_update: 'a' } } },
      { artifactUpdate: { taskId: id, contextId: id, ...update([{ data: { Parts: 'a' } }], { lastChunk: true }) } },
      { message: { messageId: id, role: 'ROLE_AGENT', parts: [{ text: 'fine', mediaType: 'text/plain' }] } },
      { error: { code: 500, message: 'failed', details: [] } },
    ];
    const { status, text } = await streamOf(events);
    expect([status, text.match(/^data: /gm)?.length]).toEqual([200, events.length]);
  });

  test.each<[string, object]>([
    ['Parts', { message: { messageId: id, Parts: [{ text: begin }, { text: end }] } }],
    ['Artifacts', { task: { id, Artifacts: [{ artifactId: id, parts: [file] }] } }],
    ['URL', { message: { messageId: id, parts: [{ URL: 'https://files.example/a' }] } }],
  ])('a whole answer with %s is refused', async (_, answer) => {
    image.play((response) => void response.end(JSON.stringify(answer)));
    expect(await post('message:send', hello)).toMatchObject({ status: 502, code: 'answer_refused' });
  });
});

describe('a call of an image', () => {
  beforeAll(() => image.play((response) => void response.end('{}')));

  test.each<[string, object]>([
    ['Message', { Message: hello.message }],
    ['Parts', { message: { messageId: id, Parts: [{ text: begin }, { text: end }] } }],
    ['Raw', { message: { messageId: id, parts: [{ Raw: 'AAAA' }] } }],
    ['message_id', { message: { message_id: id, parts: [{ text: 'a' }] } }],
  ])('a judged message with %s in another spelling does not reach its process', async (_, body) => {
    await serve('A2A');
    expect(await post('message:send', body)).toMatchObject({ status: 400, code: 'invalid_request', sent: [] });
    expect(await post('message:send', hello)).toMatchObject({ status: 200, code: undefined });
  });

  test.each(['judged', 'not judged'])(
    'a request for push notifications is refused in every spelling, if texts are %s',
    async (texts) => {
      await serve('A2A', texts === 'judged' ? {} : unguarded);
      const push = { url: 'https://other.example/events' };
      for (const configuration of [
        { taskPushNotificationConfig: push },
        { task_push_notification_config: push },
        { pushNotificationConfig: push },
        { push_notification_config: push },
        { TaskPushNotificationConfig: push },
      ]) {
        const refused = { status: 400, code: 'push_notification_not_supported', sent: [] };
        expect(await post('message:send', { ...hello, configuration })).toMatchObject(refused);
        expect(await post('message:stream', { ...hello, Configuration: configuration })).toMatchObject(refused);
      }
      const named = { ...hello, metadata: { pushNotificationConfig: 'a' }, configuration: { historyLength: 1 } };
      expect(await post('message:send', named)).toMatchObject({ status: 200 });
    },
  );

  test('a run of an image that judges nothing cannot be detached in another spelling', async () => {
    await serve('A2A', unguarded);
    const sent = { ...hello, Configuration: { Return_Immediately: true, historyLength: 3 } };
    const received = (await post('message:send', sent)).sent.map((text) => JSON.parse(text) as unknown);
    expect(received).toEqual([{ ...hello, Configuration: { historyLength: 3 } }]);
  });

  test.each(['judged', 'not judged'])(
    'a message of MCP cannot name a second method or tool in another spelling, if texts are %s',
    async (texts) => {
      await serve('MCP', texts === 'judged' ? {} : unguarded);
      image.play((response) => void response.end('{"jsonrpc":"2.0","id":1,"result":{}}'));
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } };
      for (const changed of [
        { ...call, Method: 'resources/read' },
        { ...call, Params: { name: 'other' } },
        { ...call, params: { ...call.params, Name: 'other' } },
      ]) {
        expect(await post('mcp', changed)).toMatchObject({ status: 400, code: 'invalid_request', sent: [] });
      }
      expect(await post('mcp', call)).toMatchObject({ status: 200, code: undefined });
    },
  );
});
