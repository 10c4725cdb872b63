import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundleOf, masking, regex, stopList } from '../testing/build-bundle.ts';
import { type Answer, startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

let runtime: TestRuntime;
const limits = { maxBodyBytes: 131_072, maxMessages: 64, maxMatches: 256, maxConcurrency: 32, queueSize: 0 } as const;

beforeAll(async () => {
  const rules = [stopList('words', ['forbidden']), masking(regex('mail', '[a-z]+@[a-z]+'), '[mail]')];
  runtime = await startRuntime(bundleOf(rules, [], { limits }));
});
afterAll(async () => runtime[Symbol.asyncDispose]());

const post = (path: string, value: unknown): Promise<Answer> => runtime.post(path, JSON.stringify(value));
const request = (value: unknown): Promise<Answer> => post('/request', value);
const response = (value: unknown): Promise<Answer> => post('/response', value);
const messages = (...items: unknown[]): unknown => ({ body: { messages: items } });
const choices = (...items: unknown[]): unknown => ({ body: { choices: items.map((message) => ({ message })) } });
const hello = { role: 'user', content: 'hello' };

function expectInvalid(answer: Answer, code = 'invalid_payload'): void {
  expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 422, code });
  expect(answer.json.action).toBeUndefined();
}
function expectPass(answer: Answer): void {
  expect({ status: answer.status, text: answer.text }).toEqual({
    status: 200,
    text: '{"action":{"reason":"policy_pass"}}',
  });
}

describe('the body of POST /request', () => {
  verifies(['guardrail:request-body:body-required'], 'the body of POST /request needs body', async () => {
    for (const value of [{}, { messages: [hello] }, [], 'text', 7, null, true]) expectInvalid(await request(value));
  });

  verifies(
    ['guardrail:request-body:body-is-object'],
    'the body of POST /request needs body to be an object',
    async () => {
      for (const body of [null, 'text', 1, [], [{ messages: [hello] }], true]) expectInvalid(await request({ body }));
    },
  );

  verifies(
    ['guardrail:request-body:body-only-messages'],
    'the body of POST /request needs messages to be the only member of body',
    async () => {
      for (const name of ['model', 'choices', 'stream', '', 'Messages', '__proto__', 'constructor']) {
        const body = JSON.parse(`{"messages":[${JSON.stringify(hello)}],${JSON.stringify(name)}:1}`) as unknown;
        expectInvalid(await request({ body }));
        expectInvalid(await runtime.post('/request', `{"body":{"messages":[${JSON.stringify(hello)}],"${name}":1}}`));
      }
    },
  );

  verifies(['guardrail:request-body:messages-required'], 'the body of POST /request needs messages', async () => {
    for (const body of [{}, { choices: [{ message: hello }] }, { message: hello }])
      expectInvalid(await request({ body }));
  });

  verifies(
    ['guardrail:request-body:messages-is-array'],
    'the body of POST /request needs messages to be a list',
    async () => {
      for (const list of [null, hello, 'text', 1, true, {}]) expectInvalid(await request({ body: { messages: list } }));
    },
  );

  verifies(
    ['guardrail:request-body:messages-1-to-64'],
    'the body of POST /request takes 1 to 64 messages',
    async () => {
      expectInvalid(await request(messages()), 'message_limit');
      expectPass(await request(messages(hello)));
      expectPass(await request(messages(...Array.from({ length: 64 }, () => hello))));
      expectInvalid(await request(messages(...Array.from({ length: 65 }, () => hello))), 'message_limit');
    },
  );

  verifies(
    ['guardrail:request-body:role-required', 'guardrail:request-body:content-required'],
    'the body of POST /request needs role and content',
    async () => {
      for (const item of [{ content: 'hello' }, { role: 'user' }, {}]) expectInvalid(await request(messages(item)));
    },
  );

  verifies(
    ['guardrail:request-body:role-is-string'],
    'the body of POST /request needs role to be a string',
    async () => {
      for (const role of [null, 1, true, ['user'], { name: 'user' }]) {
        expectInvalid(await request(messages({ role, content: 'hello' })));
      }
    },
  );

  verifies(
    ['guardrail:request-body:role-length-1-to-32'],
    'the body of POST /request takes roles of 1 to 32 code points',
    async () => {
      expectInvalid(await request(messages({ role: '', content: 'hello' })));
      expectPass(await request(messages({ role: 'u', content: 'hello' })));
      expectPass(await request(messages({ role: 'u'.repeat(32), content: 'hello' })));
      expectPass(await request(messages({ role: '\u{1f600}'.repeat(32), content: 'hello' })));
      expectInvalid(await request(messages({ role: 'u'.repeat(33), content: 'hello' })));
      expectInvalid(await request(messages({ role: '\u{1f600}'.repeat(33), content: 'hello' })));
    },
  );

  verifies(
    ['guardrail:request-body:role-no-trust', 'guardrail:request-body:role-system-checked'],
    'the body of POST /request judges every role alike, system too',
    async () => {
      for (const role of ['user', 'system', 'developer', 'assistant', 'tool', 'admin']) {
        const denied = await request(messages({ role, content: 'this is forbidden' }));
        expect(denied.json.action).toMatchObject({ reason: 'policy_denied' });
        const masked = await request(messages({ role, content: 'to a@b' }));
        expect(masked.json.action).toMatchObject({ body: { messages: [{ role, content: 'to [mail]' }] } });
        expectPass(await request(messages({ role, content: 'hello' })));
      }
    },
  );

  verifies(
    [
      'guardrail:request-body:content-is-string',
      'guardrail:request-body:content-null',
      'guardrail:request-body:content-parts-array',
    ],
    'the body of POST /request needs content to be a string',
    async () => {
      const parts = [{ type: 'text', text: 'hello' }];
      for (const content of [null, 1, true, { text: 'hello' }, parts, [], ['hello']]) {
        expectInvalid(await request(messages({ role: 'user', content })));
      }
    },
  );

  test('the body of POST /request takes empty content', async () => {
    expectPass(await request(messages({ role: 'user', content: '' })));
  });

  verifies(
    ['guardrail:request-body:unknown-property-top'],
    'the body of POST /request takes nothing beside body',
    async () => {
      for (const name of ['model', 'messages', 'metadata', '__proto__', '']) {
        const text = `{"body":{"messages":[${JSON.stringify(hello)}]},${JSON.stringify(name)}:{}}`;
        expectInvalid(await runtime.post('/request', text));
      }
    },
  );

  verifies(
    [
      'guardrail:request-body:unknown-property-message',
      'guardrail:request-body:tool-calls',
      'guardrail:request-body:name',
    ],
    'the body of POST /request takes nothing beside role and content',
    async () => {
      for (const extra of [{ tool_calls: [] }, { name: 'x' }, { tool_call_id: 'x' }, { refusal: null }, { id: 1 }]) {
        expectInvalid(await request(messages({ ...hello, ...extra })));
      }
      expectInvalid(
        await runtime.post('/request', '{"body":{"messages":[{"role":"user","content":"x","__proto__":1}]}}'),
      );
      for (const item of [null, 'text', 1, [], [hello]]) expectInvalid(await request(messages(item)));
    },
  );

  verifies(
    [
      'guardrail:request-body:content-131072-characters',
      'guardrail:request-body:content-body-limit-first',
      'guardrail:limits:bytes-before-characters',
    ],
    'the body of POST /request never checks more than 131072 characters, because the limit on bytes comes first',
    async () => {
      const frame = JSON.stringify(messages({ role: 'user', content: '' })).length;
      expectPass(await request(messages({ role: 'user', content: 'a'.repeat(131_072 - frame) })));
      for (const length of [131_072 - frame + 1, 131_072, 131_073, 140_000]) {
        const answer = await request(messages({ role: 'user', content: 'a'.repeat(length) }));
        expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 413, code: 'body_too_large' });
      }
      const both = messages({ role: '', content: 'a'.repeat(131_073) });
      expect((await request(both)).json.code).toBe('body_too_large');
    },
  );
});

describe('the body of POST /response', () => {
  verifies(['guardrail:response-body:body-required'], 'the body of POST /response needs body', async () => {
    for (const value of [{}, { choices: [{ message: hello }] }, [], null, 'text']) expectInvalid(await response(value));
  });

  verifies(
    ['guardrail:response-body:body-is-object'],
    'the body of POST /response needs body to be an object',
    async () => {
      for (const body of [null, 'text', 1, [], true]) expectInvalid(await response({ body }));
    },
  );

  verifies(
    ['guardrail:response-body:body-only-choices'],
    'the body of POST /response needs choices to be the only member of body',
    async () => {
      for (const name of ['model', 'messages', 'id', '__proto__']) {
        const text = `{"body":{"choices":[{"message":${JSON.stringify(hello)}}],"${name}":[]}}`;
        expectInvalid(await runtime.post('/response', text));
      }
      expectInvalid(await response(messages(hello)));
    },
  );

  verifies(
    ['guardrail:response-body:choices-required', 'guardrail:response-body:choices-is-array'],
    'the body of POST /response needs choices, a list',
    async () => {
      expectInvalid(await response({ body: {} }));
      for (const list of [null, {}, 'text', 1, { message: hello }])
        expectInvalid(await response({ body: { choices: list } }));
    },
  );

  verifies(
    ['guardrail:response-body:choices-1-to-64'],
    'the body of POST /response takes 1 to 64 choices',
    async () => {
      expectInvalid(await response(choices()), 'message_limit');
      expectPass(await response(choices(hello)));
      expectPass(await response(choices(...Array.from({ length: 64 }, () => hello))));
      expectInvalid(await response(choices(...Array.from({ length: 65 }, () => hello))), 'message_limit');
    },
  );

  verifies(
    ['guardrail:response-body:message-required', 'guardrail:response-body:message-is-object'],
    'the body of POST /response needs a message, an object',
    async () => {
      for (const choice of [{}, hello, null, 'text', [], { delta: hello }]) {
        expectInvalid(await response({ body: { choices: [choice] } }));
      }
      for (const message of [null, 'text', [], [hello], 1]) expectInvalid(await response(choices(message)));
    },
  );

  verifies(
    ['guardrail:response-body:message-exact-fields'],
    'the body of POST /response needs exactly role and content',
    async () => {
      for (const message of [{ role: 'assistant' }, { content: 'x' }, {}])
        expectInvalid(await response(choices(message)));
      for (const extra of [
        { tool_calls: [] },
        { name: 'x' },
        { refusal: null },
        { annotations: [] },
        { audio: null },
      ]) {
        expectInvalid(await response(choices({ ...hello, ...extra })));
      }
    },
  );

  verifies(
    ['guardrail:response-body:message-same-rules'],
    'the body of POST /response holds role and content to the rules of a request',
    async () => {
      expectInvalid(await response(choices({ role: '', content: 'x' })));
      expectPass(await response(choices({ role: 'a', content: 'x' })));
      expectPass(await response(choices({ role: 'a'.repeat(32), content: '' })));
      expectInvalid(await response(choices({ role: 'a'.repeat(33), content: 'x' })));
      for (const content of [null, 1, [{ type: 'text', text: 'x' }]]) {
        expectInvalid(await response(choices({ role: 'assistant', content })));
      }
    },
  );

  verifies(
    ['guardrail:response-body:no-completion-fields', 'guardrail:response-body:no-other-fields'],
    'the body of POST /response takes no field of a chat completion',
    async () => {
      for (const name of ['id', 'model', 'usage', 'object', 'created', 'system_fingerprint', 'service_tier']) {
        expectInvalid(await response({ body: { choices: [{ message: hello }], [name]: 'x' } }));
        expectInvalid(await response({ body: { choices: [{ message: hello }] }, [name]: 'x' }));
      }
      for (const name of ['index', 'finish_reason', 'logprobs', 'delta']) {
        expectInvalid(await response({ body: { choices: [{ message: hello, [name]: 0 }] } }));
      }
    },
  );
});

describe('what is no text', () => {
  verifies(
    ['guardrail:text-only:pdf', 'guardrail:text-only:sse-stream', 'guardrail:text-only:image'],
    'files, images and streams are refused by their media type',
    async () => {
      for (const type of ['application/pdf', 'image/png', 'text/event-stream', 'multipart/form-data; boundary=x']) {
        for (const path of ['/request', '/response']) {
          const answer = await runtime.post(path, Buffer.from('%PDF-1.7'), { 'content-type': type });
          expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 415, code: 'unsupported_media' });
        }
      }
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
      expectInvalid(await request(messages({ role: 'user', content: [image] })));
      expectInvalid(await request(messages({ role: 'user', image })));
    },
  );

  verifies(
    [
      'guardrail:text-only:memory-json',
      'guardrail:text-only:tool-set',
      'guardrail:versioning:current-profile-runtime-text-only',
    ],
    'URLs, memory objects, tools and parts are refused by their shape',
    async () => {
      expectInvalid(await request(messages({ role: 'user', url: 'http://127.0.0.1:1/doc' })));
      expectInvalid(await request(messages({ ...hello, url: 'http://127.0.0.1:1/doc' })));
      expectInvalid(await request({ memories: [{ id: '1', memory: 'likes tea' }] }));
      expectInvalid(await request({ body: { memory: 'likes tea' } }));
      expectInvalid(await request({ body: { messages: [hello], tools: [] } }));
      expectInvalid(await request({ body: { messages: [hello] }, tools: [] }));
      expectInvalid(await request(messages({ role: 'assistant', content: '', tool_calls: [{ id: 'x' }] })));
      expectInvalid(await response(choices({ role: 'assistant', content: '', tool_calls: [{ id: 'x' }] })));
    },
  );

  verifies(
    [
      'guardrail:identifiers:domain-ids-rejected',
      'guardrail:identifiers:access-lists-rejected',
      'guardrail:identifiers:filters-rejected',
    ],
    'identifiers, access lists and filters of the caller are refused at every level',
    async () => {
      for (const name of ['document_id', 'memory_id', 'agent_id', 'run_id', 'acl', 'access_list', 'filters']) {
        expectInvalid(await request({ body: { messages: [hello] }, [name]: 'x' }));
        expectInvalid(await request({ body: { messages: [hello], [name]: ['x'] } }));
        expectInvalid(await request(messages({ ...hello, [name]: 'x' })));
        expectInvalid(await response({ body: { choices: [{ message: hello, [name]: 'x' }] } }));
      }
    },
  );

  verifies(
    ['guardrail:identifiers:owns-none'],
    'a check needs no identifier of the caller and none comes back',
    async () => {
      expectPass(await request(messages(hello)));
      const masked = await request(messages({ role: 'user', content: 'a@b' }));
      expect(masked.text).toBe(
        '{"action":{"body":{"messages":[{"role":"user","content":"[mail]"}]},"reason":"content_redacted"}}',
      );
    },
  );
});
