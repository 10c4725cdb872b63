import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentStateSchema } from '#contracts/agent-state';
import { verifies } from '../../../e2e/support/verifies.ts';
import { agentBundle, questionFlow } from '../testing/agent-bundle.ts';
import { errorCodeOf, messageOf, type RunningAgent, startAgent, streamEventsOf } from '../testing/start-agent.ts';

const send = '/message:send';
const stream = '/message:stream';
const hello = messageOf({ text: 'hello' });
const bob = { 'x-user-id': 'bob' };

let agent: RunningAgent;
let plain: RunningAgent;
beforeAll(async () => {
  agent = await startAgent({ bundle: agentBundle() });
  plain = await startAgent({ bundle: agentBundle({ contract: { capabilities: {} } }) });
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
});

/** Number of runs that the process has recorded, including ended ones. */
async function runsOf({ adminUrl }: RunningAgent): Promise<number> {
  return ((await (await fetch(`${adminUrl}/runs`)).json()) as { runs: unknown[] }).runs.length;
}

describe('the card and the messages of an agent', () => {
  verifies(
    ['agents:card:get', 'agents:push:not-declared', 'agents:version:a2a', 'agents:streaming:flag-true'],
    'the card contains what the manifest requests and what was confirmed, and can be revalidated by its ETag',
    async () => {
      const card = await agent.call('GET', '/.well-known/agent-card.json', undefined, { 'a2a-version': '' });
      expect(card.json).toMatchObject({
        name: 'Question',
        supportedInterfaces: [
          {
            url: 'https://agents.example/agents/question/versions/3',
            protocolBinding: 'HTTP+JSON',
            protocolVersion: '1.0',
          },
        ],
        capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
        skills: [{ id: 'answer' }],
      });
      const etag = card.headers.get('etag') ?? '';
      const again = await agent.call('GET', '/.well-known/agent-card.json', undefined, { 'if-none-match': etag });
      expect([again.status, again.text]).toEqual([304, '']);
    },
  );

  verifies(
    ['agents:streaming:flag-absent-or-false', 'agents:message-stream:unsupported'],
    'the card of an agent whose manifest does not request streaming has no streaming, and streams are refused without a run',
    async () => {
      const card = await plain.call('GET', '/.well-known/agent-card.json');
      expect(card.json).toMatchObject({ capabilities: { streaming: false } });
      const before = await runsOf(plain);
      const answer = await plain.call('POST', stream, hello);
      expect([answer.status, errorCodeOf(answer), answer.headers.get('content-type')]).toEqual([
        400,
        'UnsupportedOperationError',
        'application/json',
      ]);
      expect(await runsOf(plain)).toBe(before);
    },
  );

  verifies(
    ['agents:message-send:text', 'agents:order:result-conversion'],
    'a text message is answered with one final message of the agent',
    async () => {
      const { status, json } = await agent.call('POST', send, hello);
      expect(status).toBe(200);
      expect(json).toEqual({
        message: {
          messageId: expect.any(String),
          role: 'ROLE_AGENT',
          contextId: expect.any(String),
          parts: [
            { text: 'hello', mediaType: 'text/plain' },
            { data: { answer: 'hello' }, mediaType: 'application/json' },
          ],
        },
      });
    },
  );

  verifies(
    ['agents:message-send:data', 'agents:schema:input'],
    'structured data is the input of the flow, and data that does not match the schema is refused without a run',
    async () => {
      const accepted = await agent.call('POST', send, messageOf({ data: { question: 'data', limit: 3 } }));
      expect(accepted.json).toMatchObject({ message: { parts: [{ text: 'data' }, {}] } });
      const before = await runsOf(agent);
      const wrong = [
        { question: 'data', other: 1 },
        { question: 1 },
        { limit: 3 },
        ['data'],
        null,
        { question: 'x', limit: 1.5 },
      ];
      for (const data of wrong) {
        const answer = await agent.call('POST', send, messageOf({ data }));
        expect([data, answer.status, errorCodeOf(answer)]).toEqual([data, 400, 'input_invalid']);
      }
      expect(await runsOf(agent)).toBe(before);
    },
  );

  verifies(
    ['agents:media-mode:listed-only', 'fileref:insufficient:arbitrary-url'],
    'parts of messages and results have only media types that the agent card lists, and the URL in a part is not fetched',
    async () => {
      const refused = [
        { url: `${agent.url}/health/live` },
        { raw: 'aGVsbG8=' },
        { text: 'hello', mediaType: 'text/html' },
        { data: { question: 'x' }, mediaType: 'application/xml' },
      ];
      for (const part of refused) {
        const answer = await agent.call('POST', send, messageOf(part));
        expect([answer.status, errorCodeOf(answer)]).toEqual([415, 'content_type_not_supported']);
      }
      const only = (mode: string) => ({ ...hello, configuration: { acceptedOutputModes: [mode] } });
      const text = await agent.call('POST', send, only('text/plain'));
      expect(text.json).toMatchObject({ message: { parts: [{ text: 'hello' }] } });
      expect(errorCodeOf(await agent.call('POST', send, only('image/png')))).toBe('content_type_not_supported');
    },
  );

  test('a body that is not an A2A message is refused as an invalid request', async () => {
    const bodies = [
      '{',
      '[]',
      { message: {} },
      messageOf(),
      messageOf({}),
      messageOf({ text: 'a', data: {} }),
      { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'a' }] } },
      { ...hello, tenant: 'other' },
    ];
    for (const body of bodies) {
      const answer = await agent.call('POST', send, body);
      expect([body, answer.status, errorCodeOf(answer)]).toEqual([body, 400, 'invalid_request']);
    }
  });
});

describe('the order of the steps', () => {
  verifies(
    ['agents:order:fixed', 'agents:order:protocol-version', 'agents:a2a-version:header'],
    'the A2A version of a request is checked before anything else of it',
    async () => {
      for (const version of ['', '0.3', '1.0.0', '1', '2.0', '1.0, 1.0']) {
        const headers = { 'a2a-version': version, 'x-user-id': '', 'content-type': 'text/plain' };
        const answer = await agent.call('POST', `${send}?A2A-Version=1.0`, 'x'.repeat(20_000), headers);
        expect([version, answer.status, errorCodeOf(answer)]).toEqual([version, 400, 'version_not_supported']);
      }
    },
  );

  verifies(
    ['agents:order:content-type', 'agents:order:size-limit'],
    'media type and size of a request are checked before the identity of the caller, and a body at the size limit is accepted',
    async () => {
      const nobody = { 'x-user-id': '' };
      const type = await agent.call('POST', send, 'x'.repeat(20_000), { ...nobody, 'content-type': 'text/plain' });
      expect([type.status, errorCodeOf(type)]).toEqual([415, 'content_type_not_supported']);
      const bytes = JSON.stringify(messageOf({ text: '' })).length;
      const over = await agent.call('POST', send, messageOf({ text: 'x'.repeat(16_385 - bytes) }), nobody);
      expect([over.status, errorCodeOf(over)]).toEqual([413, 'request_too_large']);
      const full = await agent.call('POST', send, messageOf({ text: 'x'.repeat(16_384 - bytes) }));
      expect(full.status).toBe(200);
    },
  );

  verifies(
    ['agents:order:identity', 'agents:order:fileref-disabled'],
    'a call without an identity is refused before its parts are read, and a file reference before the flow runs',
    async () => {
      const reference = { data: { question: 'x', file: { apiVersion: 'platform.file-ref/v1', fileId: 'guessed' } } };
      const before = await runsOf(agent);
      const unknown = await agent.call('POST', send, messageOf(reference), { 'x-user-id': '' });
      expect([unknown.status, errorCodeOf(unknown)]).toEqual([401, 'unauthenticated']);
      const known = await agent.call('POST', send, messageOf(reference));
      expect([known.status, errorCodeOf(known)]).toEqual([403, 'file_refused']);
      expect(await runsOf(agent)).toBe(before);
    },
  );

  verifies(
    ['agents:order:refusal', 'agents:error:form', 'agents:error:no-raw-exception'],
    'a refusal has a stable code and the trace id of its caller, and no text of the request or the program',
    async () => {
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
      const answer = await agent.call('POST', send, messageOf({ data: { secret: 'tell-nobody' } }), { traceparent });
      expect(answer.json).toEqual({
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'The input does not match the input schema of the agent.',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'input_invalid',
              domain: 'portcullis',
              metadata: { code: 'input_invalid', traceId },
            },
          ],
        },
      });
      expect(answer.headers.get('traceparent')).toContain(traceId);
      const unknown = await agent.call('GET', '/nothing');
      expect([unknown.status, unknown.headers.get('content-type'), unknown.json['code']]).toEqual([
        404,
        'application/problem+json',
        'not_found',
      ]);
    },
  );

  verifies(
    ['agents:order:health-and-card-exempt', 'agents:operations-boundary:routes', 'agents:health:live'],
    'the health endpoint and the agent card require neither a protocol version nor an identity',
    async () => {
      const nothing = { 'a2a-version': '', 'x-user-id': '' };
      for (const path of ['/health/live', '/health/ready', '/.well-known/agent-card.json']) {
        expect((await agent.call('GET', path, undefined, nothing)).status).toBe(200);
      }
    },
  );
});

describe('tasks', () => {
  const taskId = (events: readonly Record<string, unknown>[]) => (events[0] as { task: { id: string } }).task.id;

  verifies(
    [
      'agents:task-state:stream-life',
      'agents:message-stream:sse',
      'agents:message-stream:first-task',
      'agents:message-stream:ordered-updates',
      'agents:message-stream:closes',
    ],
    'an A2A stream begins with the task, continues with ordered updates and ends with the final status',
    async () => {
      const answer = await agent.call('POST', stream, hello);
      expect(answer.headers.get('content-type')).toBe('text/event-stream');
      const state = (name: string) => ({ statusUpdate: { status: { state: name } } });
      expect(streamEventsOf(answer)).toMatchObject([
        { task: { status: { state: 'TASK_STATE_SUBMITTED' } } },
        state('TASK_STATE_WORKING'),
        { artifactUpdate: { artifact: { parts: [{ text: 'hello' }, {}] }, lastChunk: true } },
        state('TASK_STATE_COMPLETED'),
      ]);
    },
  );

  verifies(
    ['agents:task:get-snapshot', 'agents:task:list-snapshot', 'agents:limit:task-scope', 'agents:task:after-restart'],
    'a task can be read only by its caller and only in the process that ran it',
    async () => {
      const { json } = await agent.call('POST', stream, hello).then(async (answer) => {
        const id = taskId(streamEventsOf(answer));
        return agent.call('GET', `/tasks/${id}`);
      });
      expect(json).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ name: 'result' }] });
      const id = String(json['id']);
      const list = await agent.call('GET', '/tasks?pageSize=1');
      expect(list.json).toMatchObject({ tasks: [{ id }], pageSize: 1 });
      expect((list.json['tasks'] as object[])[0]).not.toHaveProperty('artifacts');
      const whole = await agent.call('GET', '/tasks?pageSize=1&includeArtifacts=true');
      expect((whole.json['tasks'] as object[])[0]).toHaveProperty('artifacts');
      for (const answer of [
        await agent.call('GET', `/tasks/${id}`, undefined, bob),
        await plain.call('GET', `/tasks/${id}`),
        await agent.call('GET', '/tasks/unknown'),
      ]) {
        expect([answer.status, errorCodeOf(answer)]).toEqual([404, 'task_not_found']);
      }
      expect((await agent.call('GET', '/tasks', undefined, bob)).json).toMatchObject({ tasks: [], totalSize: 0 });
      expect((await plain.call('GET', '/tasks')).json).toMatchObject({ tasks: [], totalSize: 0 });
    },
  );

  test('the page tokens of a task list lead to its end, and an invalid page is refused', async () => {
    const carol = { 'x-user-id': 'carol' };
    for (let count = 0; count < 3; count += 1) await agent.call('POST', stream, hello, carol);
    const first = (await agent.call('GET', '/tasks?pageSize=2', undefined, carol)).json;
    const token = String(first['nextPageToken']);
    const second = (await agent.call('GET', `/tasks?pageSize=2&pageToken=${token}`, undefined, carol)).json;
    const idsOf = (page: Record<string, unknown>) => (page['tasks'] as { id: string }[]).map(({ id }) => id);
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(3);
    expect([first['totalSize'], second['nextPageToken']]).toEqual([3, '']);
    for (const query of ['pageSize=0', 'pageSize=101', 'pageToken=x', 'status=DONE', 'unknown=1']) {
      expect([query, errorCodeOf(await agent.call('GET', `/tasks?${query}`))]).toEqual([query, 'invalid_request']);
    }
    expect((await agent.call('GET', '/tasks?pageSize=100')).status).toBe(200);
  });

  verifies(
    ['agents:task:subscribe-finished', 'agents:task:cancel'],
    'a task that has ended cannot be subscribed to, and no task can be cancelled',
    async () => {
      const id = taskId(streamEventsOf(await agent.call('POST', stream, hello)));
      const before = (await agent.call('GET', `/tasks/${id}`)).json;
      for (const [method, path] of [
        ['POST', `/tasks/${id}:subscribe`],
        ['GET', `/tasks/${id}:subscribe`],
        ['POST', `/tasks/${id}:cancel`],
        ['POST', `/tasks/${id}%3Acancel`],
      ] as const) {
        const answer = await agent.call(method, path);
        expect([path, answer.status, errorCodeOf(answer)]).toEqual([path, 400, 'UnsupportedOperationError']);
      }
      expect((await agent.call('GET', `/tasks/${id}`)).json).toEqual(before);
      expect(errorCodeOf(await agent.call('POST', `/tasks/${id}:cancel`, undefined, bob))).toBe('task_not_found');
      const more = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'more' }], taskId: id } };
      expect(errorCodeOf(await agent.call('POST', send, more))).toBe('UnsupportedOperationError');
      expect(errorCodeOf(await agent.call('POST', send, more, bob))).toBe('task_not_found');
    },
  );

  verifies(
    ['agents:push:unsupported', 'agents:extended-card:unavailable'],
    'push notifications and the extended card are answered with typed errors, also for tasks that do not exist',
    async () => {
      const configs = '/tasks/unknown/pushNotificationConfigs';
      for (const [method, path] of [
        ['POST', configs],
        ['GET', configs],
        ['GET', `${configs}/c`],
        ['DELETE', `${configs}/c`],
      ] as const) {
        const answer = await agent.call(method, path);
        expect([answer.status, answer.json]).toMatchObject([
          400,
          {
            error: {
              details: [
                { reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED', domain: 'a2a-protocol.org' },
                { reason: 'UNSUPPORTED_OPERATION', domain: 'a2a-protocol.org' },
                { reason: 'push_notification_not_supported' },
              ],
            },
          },
        ]);
      }
      const asked = { ...hello, configuration: { taskPushNotificationConfig: { url: 'https://example.com' } } };
      expect(errorCodeOf(await agent.call('POST', send, asked))).toBe('push_notification_not_supported');
      const card = await agent.call('GET', '/extendedAgentCard');
      expect([card.status, errorCodeOf(card)]).toEqual([400, 'extended_card_not_configured']);
    },
  );
});

verifies(
  ['agents:version:release'],
  'the admin address serves readiness, state, runs without texts, and metrics',
  async () => {
    expect((await fetch(`${agent.adminUrl}/livez`)).status).toBe(200);
    expect((await fetch(`${agent.adminUrl}/readyz`)).status).toBe(200);
    const state = agentStateSchema.parse(await (await fetch(`${agent.adminUrl}/state`)).json());
    expect(state).toMatchObject({
      ready: true,
      build: '2026.3.5',
      capabilities: { 'a2a.message': true, 'a2a.streaming': true, 'mcp.tool': true },
      runs: 0,
    });
    await agent.call('POST', send, messageOf({ text: 'a-private-word' }));
    const runs = await (await fetch(`${agent.adminUrl}/runs`)).text();
    const [newest] = (JSON.parse(runs) as { runs: unknown[] }).runs;
    expect(newest).toMatchObject({ code: 'none', nodes: [{ path: 'start', outcome: 'ok' }, { path: 'end' }] });
    expect(runs).not.toContain('a-private-word');
    const metrics = await (await fetch(`${agent.adminUrl}/metrics`)).text();
    expect(metrics).toContain('portcullis_agent_ready{service="agent"} 1');
    expect(metrics).toContain('portcullis_agent_requests_total{operation="message:send",code="none",service="agent"}');
  },
);

verifies(
  ['agents:error:named-codes'],
  'an unreadable file, an unconfirmed mode and an unsupported operation have their own error codes',
  async () => {
    const member = 'input.question';
    const nodes = [
      { id: 'start', kind: 'input' },
      { id: 'read', kind: 'file', inputs: { fileId: `\${${member}}` }, config: { use: 'text' } },
      { id: 'end', kind: 'output', inputs: { data: { answer: 'read' } } },
    ];
    const edges = [
      { from: 'start', to: 'read' },
      { from: 'read', to: 'end' },
    ];
    await using reader = await startAgent({ bundle: agentBundle({ flow: { ...questionFlow(), nodes, edges } }) });
    const file = await reader.call('POST', send, messageOf({ text: 'a-capability' }));
    expect([file.status, errorCodeOf(file)]).toEqual([502, 'file_provider_mapping_failed']);
    expect(file.text).not.toContain('a-capability');
    expect(errorCodeOf(await plain.call('POST', stream, hello))).toBe('UnsupportedOperationError');
    await using reserved = await startAgent({ bundle: agentBundle({ contract: { tasks: true } }) });
    const refused = await reserved.call('POST', send, hello);
    expect([refused.status, errorCodeOf(refused)]).toEqual([503, 'advertised_capability_unavailable']);
  },
);
