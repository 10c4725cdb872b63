import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import {
  callItem,
  messageItem,
  reasoningItem,
  responseBody,
  responseEvents,
  responseStream,
} from '../testing/response-script.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { clientKey, served } from '../testing/start-gateway.ts';
import { startWorld, type World, words } from '../testing/start-world.ts';

let world: World;
let client: OpenAI;
/** The number of checks before the test. */
let checksBefore = 0;

beforeAll(async () => {
  world = await startWorld();
  putRoute('all', { judge: [...judgedTextKinds] });
  putRoute('strict', { unjudged: 'Refuse' });
  putRoute('no-streams', { streaming: 'Refused' });
  await served(world.gateway, ['all', 'strict', 'no-streams']);
  client = new OpenAI({ apiKey: clientKey, baseURL: `${world.gateway.service.url}/v1`, maxRetries: 0 });
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.upstream.forget();
  checksBefore = world.checks.seen.length;
  answer([messageItem(['fine'])]);
});

function putRoute(alias: string, rest: Partial<GatewayRouteSpec>): void {
  const pin = { ...world.policy.pin, addresses: [world.checks.url] };
  world.gateway.routes.put(storedRoute(alias, routeSpec(alias, `${world.upstream.url}/v1`, routeGuard(pin), rest)));
}

type Items = Parameters<typeof responseBody>[0];

/** The provider answers with these items, whole or streamed in pieces of three characters, as the request specifies. */
function answer(items: Items, more: Parameters<typeof responseBody>[1] = {}): void {
  const pieces = (text: string): string[] => text.match(/[\s\S]{1,3}/gu) ?? [];
  world.upstream.play(({ text }) =>
    /"stream":true/.test(text)
      ? { kind: 'frames', frames: [responseStream(responseEvents(items, pieces, more))], end: 'end' }
      : { kind: 'raw', body: JSON.stringify(responseBody(items, more)), contentType: 'application/json' },
  );
}

async function ask(body: object, model = 'model') {
  const reply = await world.post('/v1/responses', { model, ...body });
  const text = await reply.text();
  const { error } = JSON.parse(text.startsWith('{') ? text : '{}') as {
    error?: { code: string; param: string | null };
  };
  return { status: reply.status, code: error?.code, param: error?.param, text };
}

const sent = () => JSON.parse(world.upstream.seen.at(-1)?.text ?? '') as Record<string, unknown>;
const checked = (path: string): string =>
  JSON.stringify(world.checks.seen.slice(checksBefore).filter((one) => one.path === path));

const result = (output: unknown) => ({ type: 'function_call_output', call_id: 'c', output });

describe('a whole response', () => {
  test('the official client gets the answer under the alias, and the request reaches the provider unchanged but for the model', async () => {
    const request = { input: 'hi', instructions: 'be kind', temperature: 0.5 };
    const response = await client.responses.create({ model: 'model', ...request });
    expect(response.output_text).toBe('fine');
    expect(response.model).toBe('model');
    expect(world.upstream.seen.at(-1)?.path).toBe('/v1/responses');
    expect(sent()).toEqual({ ...request, model: 'upstream-model' });
  });

  test('the texts of an item are one check up to 32 texts, and several ones beyond', async () => {
    const poem = (lines: readonly string[]) => [{ type: 'poem', lines }] as unknown as Items;
    const lines = (count: number, last = 'fine') =>
      Array.from({ length: count }, (_, at) => (at === count - 1 ? last : `line ${at}`));
    const checks = () => world.checks.seen.slice(checksBefore).filter(({ path }) => path === '/response').length;
    for (const [count, expected] of [
      [32, 1],
      [33, 2],
      [1_000, 32],
    ] as const) {
      checksBefore = world.checks.seen.length;
      answer(poem(lines(count)));
      expect(await ask({ input: 'hi' })).toMatchObject({ status: 200 });
      expect([count, checks()]).toEqual([count, expected]);
      answer(poem(lines(count, words.deniedOutput)));
      expect(await ask({ input: 'hi' })).toMatchObject({ status: 403, code: 'policy_denied' });
      answer(poem(lines(count, words.maskedOutput)));
      const masked = await ask({ input: 'hi' });
      expect(JSON.parse(masked.text)).toMatchObject({ output: poem(lines(count, '***')) });
    }
  });

  test('texts of an answer are judged in several checks where one has too many bytes, and a single larger text is refused', async () => {
    const long = (bytes: number) => 'x'.repeat(bytes);
    answer([messageItem([long(20_000)]), messageItem([long(20_000)])]);
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 200 });
    answer([messageItem([long(20_000)]), messageItem([long(20_000) + words.deniedOutput])]);
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 403, code: 'policy_denied' });
    answer([messageItem([long(40_000)])]);
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 503, code: 'body_too_large' });
  });

  const denied: readonly (readonly [string, object])[] = [
    ['the input', { input: words.deniedInput }],
    ['the instructions', { input: 'hi', instructions: words.deniedInput }],
    ['a message', { input: [{ role: 'user', content: words.deniedInput }] }],
    ['a part of a message', { input: [{ role: 'user', content: [{ type: 'input_text', text: words.deniedInput }] }] }],
    ['an earlier answer', { input: [messageItem([words.deniedInput])] }],
    [
      'an earlier refusal',
      { input: [{ ...messageItem([]), content: [{ type: 'refusal', refusal: words.deniedInput }] }] },
    ],
    [
      'the result of a function',
      { input: [{ type: 'function_call_output', call_id: 'c', output: words.deniedInput }] },
    ],
    [
      'parts of a result',
      {
        input: [
          { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: words.deniedInput }] },
        ],
      },
    ],
    [
      'the output of a shell',
      {
        input: [
          {
            type: 'shell_call_output',
            call_id: 'c',
            output: [{ stdout: words.deniedInput, stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
          },
        ],
      },
    ],
    [
      'found files',
      {
        input: [
          {
            type: 'file_search_call',
            id: 'f',
            status: 'completed',
            queries: [],
            results: [{ text: words.deniedInput }],
          },
        ],
      },
    ],
    ['a detail of a result', { input: [result({ detail: `is ${words.deniedInput}` })] }],
    ['the name of a member of a result', { input: [result({ attributes: { [words.deniedInput]: 1 } })] }],
    ['the text of an attachment in a result', { input: [result([{ type: 'image', text: words.deniedInput }])] }],
    [
      'the content of an item that is no message',
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', content: words.deniedInput }] },
    ],
  ];
  test.each(denied)(
    'a request of the Responses API with a forbidden text in %s is refused before the provider is called',
    async (_, body) => {
      expect(await ask(body)).toMatchObject({ status: 403, code: 'policy_denied' });
      expect(world.upstream.seen).toEqual([]);
      const clean = JSON.parse(JSON.stringify(body).replaceAll(words.deniedInput, 'kind')) as object;
      expect((await ask(clean)).status).toBe(200);
    },
  );

  test.each(['deniedInput', 'maskedInput'] as const)(
    'the text %s, which begins in one part of a result and ends in the next, is refused',
    async (name) => {
      const cut = [words[name].slice(0, 3), words[name].slice(3)].map((text) => ({ type: 'input_text', text }));
      const masked = { type: 'input_text', text: words.maskedInput };
      for (const parts of [cut, [masked, ...cut]]) expect((await ask({ input: [result(parts)] })).status).toBe(403);
      expect(world.upstream.seen).toEqual([]);
    },
  );

  test('one masked part of a result does not change its other parts', async () => {
    const part = (text: string) => ({ type: 'input_text', text });
    const texts = ['one ', words.maskedInput, ' three'];
    expect((await ask({ input: [result(texts.map(part))] })).status).toBe(200);
    expect(sent()['input']).toEqual([result(['one ', '***', ' three'].map(part))]);
  });

  test('texts of a Responses request are forwarded masked, and its text parts become one part', async () => {
    const part = (text: string) => ({ type: 'input_text', text });
    const image = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' };
    const input = [
      { role: 'user', content: [part(words.maskedInput), image, part('and more')] },
      { type: 'function_call_output', call_id: 'c', output: words.maskedInput },
    ];
    await client.responses.create({ model: 'model', input: input as OpenAI.Responses.ResponseInput });
    expect(sent()['input']).toEqual([
      { role: 'user', content: [part('*** and more'), image] },
      { type: 'function_call_output', call_id: 'c', output: '***' },
    ]);
  });

  test('an answer with a forbidden text or refusal is 403, and a masked answer reaches the client without members that can repeat the text', async () => {
    answer([messageItem(['fine', `is ${words.deniedOutput}`])]);
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 403, code: 'policy_denied' });
    answer([{ ...messageItem([]), content: [{ type: 'refusal', refusal: words.deniedOutput }] }]);
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 403, code: 'policy_denied' });
    const [head, tail] = [words.deniedOutput.slice(0, 3), words.deniedOutput.slice(3)];
    answer([messageItem([`is ${head}`]), messageItem([tail, 'end'], 'msg_2')]);
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 403, code: 'policy_denied' });
    answer([messageItem([`the ${words.maskedOutput}`, ' word'])]);
    const { output_text } = await client.responses.create({ model: 'model', input: 'hi' });
    expect(output_text).toBe('the *** word');
    answer([messageItem([words.maskedOutput.slice(0, 3), words.maskedOutput.slice(3)])]);
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 403, code: 'policy_denied' });
    const message = messageItem([`the ${words.maskedOutput} word`]);
    const [part] = message['content'] as [object];
    const cited = { ...part, annotations: [{ title: words.maskedOutput }], logprobs: [{ token: words.maskedOutput }] };
    answer([reasoningItem(words.maskedOutput), { ...message, content: [cited] }, callItem('{"a":1}')]);
    const response = await client.responses.create({ model: 'model', input: 'hi' });
    expect(response.output).toMatchObject([
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { content: [{ text: 'the *** word', annotations: [], logprobs: [] }] },
      { type: 'function_call', arguments: '{"a":1}' },
    ]);
    expect(JSON.stringify(response)).not.toContain(words.maskedOutput);
  });

  test('when masking makes an answer of the Responses API invalid JSON, the answer is refused with structured_answer_unreadable', async () => {
    const format = { text: { format: { type: 'json_object' } } };
    answer([messageItem([`{"a":"${words.maskedOutput}"}`])]);
    expect((await ask({ input: 'hi', ...format })).status).toBe(200);
    const broken = { choices: [{ message: { role: 'assistant', content: '{"a":***' } }] };
    const action = { body: broken, reason: 'content_redacted' };
    world.checks.inject(({ path }) =>
      path === '/response'
        ? { kind: 'rewrite', rewrite: (one) => ({ ...one, body: JSON.stringify({ action }) }) }
        : { kind: 'pass' },
    );
    expect(await ask({ input: 'hi', ...format })).toMatchObject({ status: 503, code: 'structured_answer_unreadable' });
    world.checks.inject({ kind: 'pass' });
  });

  test('an answer that cannot be read, or in which the provider failed, is 502 without its text', async () => {
    const bodies: readonly (readonly [object, string])[] = [
      [{ output: 'text' }, 'upstream_invalid'],
      [
        responseBody([
          { type: 'message', role: 'assistant', content: [{ type: 'output_audio', transcript: 'secret' }] },
        ]),
        'upstream_invalid',
      ],
      [{ ...responseBody([]), Output: [messageItem(['secret'])] }, 'upstream_invalid'],
      [responseBody([], { error: { code: 'x', message: 'secret' }, status: 'failed' }), 'upstream_failed'],
    ];
    for (const [body, code] of bodies) {
      world.upstream.play({ kind: 'raw', body: JSON.stringify(body), contentType: 'application/json' });
      const reply = await ask({ input: 'hi' });
      expect([reply.status, reply.code]).toEqual([502, code]);
      expect(reply.text).not.toContain('secret');
    }
  });

  const refused: readonly (readonly [string, object, string, string | null])[] = [
    [
      'an earlier response by its id',
      { input: 'x', previous_response_id: 'resp_1' },
      'unsupported_value',
      'previous_response_id',
    ],
    ['a stored conversation', { input: 'x', conversation: 'conv_1' }, 'unsupported_value', 'conversation'],
    ['a stored prompt', { input: 'x', prompt: { id: 'p' } }, 'unsupported_value', 'prompt'],
    ['an item by its id', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'unsupported_value', 'input[0].type'],
    ['an item of an unknown type', { input: [{ type: 'poem', verse: 'x' }] }, 'unsupported_value', 'input[0].type'],
    ['a background run', { input: 'x', background: true }, 'unsupported_value', 'background'],
    ['log probabilities', { input: 'x', top_logprobs: 2 }, 'unsupported_value', 'top_logprobs'],
    [
      'included log probabilities',
      { input: 'x', include: ['message.output_text.logprobs'] },
      'unsupported_value',
      'include',
    ],
    ['an unknown member', { input: 'x', verse: 'x' }, 'unknown_key', 'verse'],
    ['a disguised member', { input: 'x', Input: 'y' }, 'ambiguous_key', 'Input'],
    ['a disguised result of a tool', { input: [{ ...result('x'), Output: 'y' }] }, 'ambiguous_key', 'input[0].Output'],
    [
      'a disguised type of an item',
      { input: [{ ...result('x'), Type: 'message', role: 'user' }] },
      'ambiguous_key',
      'input[0].Type',
    ],
    ['no input', {}, 'invalid_request', 'input'],
    ['an empty input', { input: [] }, 'invalid_request', 'input'],
    ['instructions that are no text', { input: 'x', instructions: ['x'] }, 'invalid_request', 'instructions'],
    [
      'a part of an unknown type',
      { input: [{ role: 'user', content: [{ type: 'poem' }] }] },
      'unsupported_value',
      'input[0].content[0].type',
    ],
    [
      'a part with two texts',
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', refusal: 'y' }] }] },
      'invalid_request',
      'input[0].content[0].refusal',
    ],
  ];
  test.each(refused)(
    'a Responses request with %s is refused, and the error names the place',
    async (_, body, code, param) => {
      expect(await ask(body)).toMatchObject({ status: 400, code, param });
      expect(world.upstream.seen).toEqual([]);
    },
  );

  test('members of a Responses request with their default value are accepted', async () => {
    const absent = { previous_response_id: null, conversation: null, prompt: null, background: false, top_logprobs: 0 };
    expect((await ask({ input: 'x', ...absent, include: ['reasoning.encrypted_content'], store: false })).status).toBe(
      200,
    );
  });
});

describe('a provider without the Responses API', () => {
  test.each([404, 405, 501])(
    'status %s of a provider for the Responses API is reported as an unsupported operation, and the provider stays usable',
    async (status) => {
      world.upstream.play({ kind: 'status', status, body: '{"detail":"Not Found"}' });
      for (const model of ['model', 'open']) {
        expect(await ask({ input: 'hi' }, model)).toMatchObject({ status: 404, code: 'operation_not_offered' });
        expect(await ask({ input: 'hi', stream: true }, model)).toMatchObject({
          status: 404,
          code: 'operation_not_offered',
        });
      }
      expect(world.gateway.log()).not.toContain('provider_refused');
    },
  );

  test('a Responses request for an unknown model is answered with 404', async () => {
    world.upstream.play({ kind: 'status', status: 404, body: '{"error":{"code":"model_not_found"}}' });
    expect(await ask({ input: 'hi' })).toMatchObject({ status: 502, code: 'upstream_failed' });
  });
});

describe('a streamed response', () => {
  const read = async (model: string, input = 'hi') => {
    const types: string[] = [];
    let text = '';
    try {
      for await (const event of await client.responses.create({ model, input, stream: true })) {
        types.push(event.type);
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.completed') return { types, text, whole: event.response, error: undefined };
      }
    } catch (error) {
      return { types, text, error: error as InstanceType<typeof OpenAI.APIError> };
    }
    return { types, text, error: undefined };
  };

  test.each(['model', 'open'])(
    'the official client reads a streamed response from %s in its order, under the alias',
    async (model) => {
      const long = 'word '.repeat(600);
      answer([reasoningItem('thinking'), messageItem([long]), callItem('{"a":1}')]);
      const { types, text, whole, error } = await read(model);
      expect(error).toBeUndefined();
      expect(text).toBe(long);
      expect(whole).toMatchObject({ model, output: [{}, { content: [{ text: long }] }, { arguments: '{"a":1}' }] });
      expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
      const final = await client.responses.stream({ model, input: 'hi' }).finalResponse();
      expect(final.output_text).toBe(long);
    },
  );

  test('the official client raises the deny that ends a stream, and no byte of the forbidden text arrived', async () => {
    const long = 'word '.repeat(600);
    answer([messageItem([`${long}${words.deniedOutput}`])]);
    const { text, error } = await read('model');
    expect(error).toMatchObject({ type: 'guardrail_blocked', code: 'policy_denied' });
    expect(long.startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(1_000);
    answer([messageItem([`a ${words.maskedOutput}`])]);
    expect((await read('model')).error).toMatchObject({ code: 'policy_denied' });
  });

  test('a stream of the Responses API ends with an error event after a failed check, a failed provider or a lost connection', async () => {
    world.checks.inject(({ path }) => ({ kind: path === '/response' ? 'reset' : 'pass' }));
    expect((await read('model')).error).toMatchObject({ type: 'guardrail_error', code: 'network' });
    world.checks.inject({ kind: 'pass' });
    const failed = responseStream([{ type: 'error', code: 'x', message: 'secret', param: null }]);
    for (const model of ['model', 'open']) {
      world.upstream.play({ kind: 'frames', frames: [failed], end: 'end' });
      expect((await read(model)).error).toMatchObject({ type: 'upstream_error', code: 'upstream_failed' });
      world.upstream.play({ kind: 'frames', frames: [responseStream(responseEvents([]).slice(0, 2))], end: 'end' });
      expect((await read(model)).error).toMatchObject({ code: 'upstream_broken' });
    }
  });

  test('a binding or a rule that does not allow streams refuses them', async () => {
    expect(await ask({ input: 'x', stream: true }, 'no-streams')).toMatchObject({
      status: 400,
      code: 'streaming_refused',
    });
    expect(await ask({ input: 'x', stream: true }, 'whole')).toMatchObject({ code: 'unsupported_for_policy' });
    expect((await ask({ input: 'x' }, 'whole')).status).toBe(200);
  });
});

describe('further texts of the Responses API', () => {
  const requests: readonly (readonly [JudgedTextKind, (text: string) => object])[] = [
    ['toolCalls', (text) => ({ input: [callItem(JSON.stringify({ q: text }))] })],
    [
      'toolDefinitions',
      (text) => ({ input: 'hi', tools: [{ type: 'function', name: 'f', description: text, parameters: {} }] }),
    ],
    ['reasoning', (text) => ({ input: [reasoningItem(text)] })],
    ['names', (text) => ({ input: [callItem('', text)] })],
    ['parameters', (text) => ({ input: 'hi', metadata: { note: text } })],
    [
      'files',
      (text) => ({
        input: [{ role: 'user', content: [{ type: 'input_file', file_data: `data:text/plain,${text}` }] }],
      }),
    ],
  ];
  test.each(requests)(
    '%s of a request are judged if the binding asks for it, else forwarded or refused',
    async (_, make) => {
      expect(await ask(make(words.deniedInput), 'all')).toMatchObject({ status: 403, code: 'policy_denied' });
      expect((await ask(make('Kind words'), 'all')).status).toBe(200);
      expect((await ask(make(words.deniedInput))).status).toBe(200);
      expect(await ask(make('Kind words'), 'strict')).toMatchObject({ status: 400, code: 'unjudged_text' });
    },
  );

  test('further texts of answers are judged if the binding asks for it, buffered and streamed, and refused otherwise', async () => {
    for (const item of [callItem(`{"q":"${words.deniedOutput}"}`), reasoningItem(words.deniedOutput)]) {
      answer([item, messageItem(['fine'])]);
      expect(await ask({ input: 'hi' }, 'all')).toMatchObject({ status: 403, code: 'policy_denied' });
      expect((await ask({ input: 'hi', stream: true }, 'all')).text).toContain('policy_denied');
      expect((await ask({ input: 'hi' })).status).toBe(200);
      expect(checked('/response')).not.toContain(`"q":"${words.deniedOutput}"}`);
      expect(await ask({ input: 'hi' }, 'strict')).toMatchObject({ status: 502, code: 'unjudged_answer' });
      expect((await ask({ input: 'hi', stream: true }, 'strict')).text).toContain('unjudged_answer');
    }
  });

  test('a mask inside the arguments of an answer keeps them valid JSON', async () => {
    answer([callItem(JSON.stringify({ q: `a ${words.maskedOutput}`, n: 1 }))]);
    const { output } = await client.responses.create({ model: 'all', input: 'hi' });
    expect(output).toMatchObject([{ arguments: JSON.stringify({ q: 'a ***', n: 1 }) }]);
  });

  test('a Responses request with encrypted reasoning is treated as text that cannot be judged', async () => {
    const body = { input: [{ ...reasoningItem(''), summary: [], encrypted_content: 'gAAAA' }] };
    expect((await ask(body, 'all')).status).toBe(200);
    expect(await ask(body, 'strict')).toMatchObject({ code: 'unjudged_text', param: 'input[0].encrypted_content' });
  });
});
