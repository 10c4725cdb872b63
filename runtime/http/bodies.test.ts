import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundleOf, masking, regex, stopList } from '../testing/build-bundle.ts';
import { type RuntimeResponse, startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

let runtime: TestRuntime;
const limits = { maxBodyBytes: 131_072, maxMessages: 64, maxMatches: 256, maxConcurrency: 32, queueSize: 0 } as const;

beforeAll(async () => {
  const rules = [stopList('words', ['forbidden']), masking(regex('mail', '[a-z]+@[a-z]+'), '[mail]')];
  runtime = await startRuntime(bundleOf(rules, [], { limits }));
});
afterAll(async () => runtime[Symbol.asyncDispose]());

const post = (path: string, value: unknown): Promise<RuntimeResponse> => runtime.post(path, JSON.stringify(value));
const request = (value: unknown): Promise<RuntimeResponse> => post('/request', value);
const response = (value: unknown): Promise<RuntimeResponse> => post('/response', value);
const hello = { role: 'user', content: 'hello' };
const messages = (...items: unknown[]) => ({ body: { messages: items } });
const choices = (...items: unknown[]) => ({ body: { choices: items.map((message) => ({ message })) } });
const hellos = (count: number) => Array.from({ length: count }, () => hello);
/** One copy of an object for each name, with an additional member of that name. */
const extended = (base: object, names: readonly string[], value: unknown = 'x'): object[] =>
  names.map((name) => ({ ...base, [name]: value }));

function expectInvalid(answer: RuntimeResponse, code = 'invalid_payload'): void {
  expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 422, code });
  expect(answer.json.action).toBeUndefined();
}
function expectPass({ status, text }: RuntimeResponse): void {
  expect({ status, text }).toEqual({ status: 200, text: '{"action":{"reason":"policy_pass"}}' });
}

type Refused = readonly [ids: Parameters<typeof verifies>[0], what: string, values: readonly unknown[]];

const parts = [{ type: 'text', text: 'hello' }];
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const toolCall = { role: 'assistant', content: '', tool_calls: [{ id: 'x' }] };
const callersMembers = ['document_id', 'memory_id', 'agent_id', 'run_id', 'acl', 'access_list', 'filters'];

const refusedRequests: readonly Refused[] = [
  [
    ['guardrail:request-body:body-required'],
    'no body',
    [{}, { messages: [hello] }, [], [{}], [null], 'text', 7, -1, 0, null, true, false],
  ],
  [
    ['guardrail:request-body:body-is-object'],
    'a body that is not an object',
    [null, 'text', 0, 1, [], [{}], [{ messages: [hello] }], true].map((body) => ({ body })),
  ],
  [
    ['guardrail:request-body:body-only-messages'],
    'a body with another member than messages',
    extended({ messages: [hello] }, [
      'model',
      'choices',
      'stream',
      'tools',
      'metadata',
      '',
      'Messages',
      '__proto__',
      'constructor',
    ]).map((body) => ({ body })),
  ],
  [
    ['guardrail:request-body:messages-required'],
    'a body without messages',
    [{}, { choices: [{ message: hello }] }, { message: hello }].map((body) => ({ body })),
  ],
  [
    ['guardrail:request-body:messages-is-array'],
    'messages that are not a list',
    [null, hello, 'text', 0, 1, true, {}].map((list) => ({ body: { messages: list } })),
  ],
  [
    ['guardrail:request-body:role-required', 'guardrail:request-body:content-required'],
    'a message without role or content',
    [{ content: 'hello' }, { role: 'user' }, {}].map((item) => messages(item)),
  ],
  [
    ['guardrail:request-body:role-is-string'],
    'a role that is not a string',
    [null, 0, 1, true, [], ['user'], {}, { name: 'user' }].map((role) => messages({ role, content: 'hello' })),
  ],
  [
    [
      'guardrail:request-body:content-is-string',
      'guardrail:request-body:content-null',
      'guardrail:request-body:content-parts-array',
    ],
    'content that is not a string',
    [null, 0, 1, true, {}, { text: 'hello' }, parts, [], ['hello']].map((content) =>
      messages({ role: 'user', content }),
    ),
  ],
  [
    ['guardrail:request-body:unknown-property-top'],
    'another member beside body',
    extended(messages(hello), ['model', 'messages', 'policy', 'metadata', 'Body', '__proto__', ''], {}),
  ],
  [
    [
      'guardrail:request-body:unknown-property-message',
      'guardrail:request-body:tool-calls',
      'guardrail:request-body:name',
    ],
    'another member of a message than role and content',
    [
      ...extended(hello, [
        'tool_calls',
        'name',
        'tool_call_id',
        'refusal',
        'audio',
        'id',
        'index',
        'Role',
        'CONTENT',
        '',
      ]),
      ...extended(hello, ['__proto__', 'constructor'], null),
      ...[{ ...hello, tool_calls: [] }, { ...hello, refusal: null }, null, 'text', true, 0, 1, [], [[]], [hello]],
    ].map((item) => messages(item)),
  ],
  [
    ['guardrail:text-only:image'],
    'an image',
    [messages({ role: 'user', content: [image] }), messages({ role: 'user', image })],
  ],
  [
    [
      'guardrail:text-only:memory-json',
      'guardrail:text-only:tool-set',
      'guardrail:versioning:current-profile-runtime-text-only',
    ],
    'URLs, memory objects and tools',
    [
      messages({ role: 'user', url: 'http://127.0.0.1:1/doc' }),
      messages({ ...hello, url: 'http://127.0.0.1:1/doc' }),
      { memories: [{ id: '1', memory: 'likes tea' }] },
      { body: { memory: 'likes tea' } },
      { body: { messages: [hello], tools: [] } },
      { body: { messages: [hello] }, tools: [] },
      messages(toolCall),
    ],
  ],
  [
    [
      'guardrail:identifiers:domain-ids-rejected',
      'guardrail:identifiers:access-lists-rejected',
      'guardrail:identifiers:filters-rejected',
    ],
    'identifiers, access lists and filters of the caller at every level',
    [
      ...extended(messages(hello), callersMembers),
      ...extended({ messages: [hello] }, callersMembers, ['x']).map((body) => ({ body })),
      ...extended(hello, callersMembers).map((item) => messages(item)),
    ],
  ],
];

const completionMembers = ['id', 'model', 'usage', 'object', 'created', 'system_fingerprint', 'service_tier'];
const choiceMembers = ['index', 'finish_reason', 'logprobs', 'delta', ...callersMembers];

const refusedResponses: readonly Refused[] = [
  [['guardrail:response-body:body-required'], 'no body', [{}, { choices: [{ message: hello }] }, [], null, 'text']],
  [
    ['guardrail:response-body:body-is-object'],
    'a body that is not an object',
    [null, 'text', 1, [], true].map((body) => ({ body })),
  ],
  [
    ['guardrail:response-body:body-only-choices'],
    'a body with another member than choices',
    [
      messages(hello),
      ...extended(choices(hello).body, ['model', 'messages', 'id', '__proto__'], []).map((body) => ({ body })),
    ],
  ],
  [
    ['guardrail:response-body:choices-required', 'guardrail:response-body:choices-is-array'],
    'choices that are missing or not a list',
    [{}, ...[null, {}, 'text', 1, { message: hello }].map((list) => ({ choices: list }))].map((body) => ({ body })),
  ],
  [
    ['guardrail:response-body:message-required', 'guardrail:response-body:message-is-object'],
    'a choice without a message, or with one that is not an object',
    [
      ...[{}, hello, null, 'text', [], { delta: hello }].map((choice) => ({ body: { choices: [choice] } })),
      ...[null, 'text', [], [hello], 1].map((message) => choices(message)),
    ],
  ],
  [
    ['guardrail:response-body:message-exact-fields', 'guardrail:text-only:tool-set'],
    'a message with other members than role and content',
    [
      ...[{ role: 'assistant' }, { content: 'x' }, {}, toolCall],
      ...[{ tool_calls: [] }, { name: 'x' }, { refusal: null }, { annotations: [] }, { audio: null }].map((extra) => ({
        ...hello,
        ...extra,
      })),
    ].map((message) => choices(message)),
  ],
  [
    ['guardrail:response-body:message-same-rules'],
    'a role or content against the rules of a request',
    [
      { role: '', content: 'x' },
      { role: 'a'.repeat(33), content: 'x' },
      ...[null, 1, parts].map((content) => ({ role: 'assistant', content })),
    ].map((message) => choices(message)),
  ],
  [
    [
      'guardrail:response-body:no-completion-fields',
      'guardrail:response-body:no-other-fields',
      'guardrail:identifiers:domain-ids-rejected',
      'guardrail:identifiers:access-lists-rejected',
      'guardrail:identifiers:filters-rejected',
    ],
    'members of a chat completion, and identifiers, access lists and filters of the caller',
    [
      ...extended(choices(hello).body, completionMembers).map((body) => ({ body })),
      ...extended(choices(hello), completionMembers),
      ...extended({ message: hello }, choiceMembers).map((choice) => ({ body: { choices: [choice] } })),
    ],
  ],
];

for (const [path, rows] of [
  ['/request', refusedRequests],
  ['/response', refusedResponses],
] as const) {
  for (const [ids, what, values] of rows) {
    verifies(ids, `POST ${path} refuses ${what}`, async () => {
      for (const value of values) expectInvalid(await post(path, value));
    });
  }
}

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
  },
);

verifies(
  ['guardrail:request-body:messages-1-to-64', 'guardrail:response-body:choices-1-to-64'],
  'a check accepts 1 to 64 messages or choices',
  async () => {
    for (const count of [0, 65]) {
      expectInvalid(await request(messages(...hellos(count))), 'message_limit');
      expectInvalid(await response(choices(...hellos(count))), 'message_limit');
    }
    for (const count of [1, 64]) {
      expectPass(await request(messages(...hellos(count))));
      expectPass(await response(choices(...hellos(count))));
    }
  },
);

verifies(['guardrail:request-body:role-length-1-to-32'], 'a role has 1 to 32 code points', async () => {
  for (const role of ['u', 'u'.repeat(32), '\u{1f600}'.repeat(32)]) {
    expectPass(await request(messages({ role, content: 'hello' })));
    expectPass(await response(choices({ role, content: '' })));
  }
  for (const role of ['', 'u'.repeat(33), '\u{1f600}'.repeat(33)])
    expectInvalid(await request(messages({ role, content: 'hello' })));
});

verifies(
  ['guardrail:request-body:role-no-trust', 'guardrail:request-body:role-system-checked'],
  'every role is judged in the same way, including system',
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

test('empty content is accepted', async () => {
  expectPass(await request(messages({ role: 'user', content: '' })));
});

verifies(
  [
    'guardrail:request-body:content-131072-characters',
    'guardrail:request-body:content-body-limit-first',
    'guardrail:limits:bytes-before-characters',
  ],
  'content of more than 131072 characters is never checked, because the limit on bytes comes first',
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

verifies(
  ['guardrail:identifiers:owns-none'],
  'a check needs no identifier of the caller and returns none',
  async () => {
    expectPass(await request(messages(hello)));
    const masked = await request(messages({ role: 'user', content: 'a@b' }));
    expect(masked.text).toBe(
      '{"action":{"body":{"messages":[{"role":"user","content":"[mail]"}]},"reason":"content_redacted"}}',
    );
  },
);
