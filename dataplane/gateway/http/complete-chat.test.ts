import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { completionBody } from '../../../e2e/support/scripted-upstream.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { clientKey } from '../testing/start-gateway.ts';
import { blockedError, runtimeToken, says, startWorld, type World, words } from '../testing/start-world.ts';
import { maxAnswerBytes } from './call-provider.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.checks.inject({ kind: 'pass' });
  world.upstream.forget();
  world.upstream.play({ kind: 'answer', content: 'fine' });
});

async function errorOf(
  answer: Response,
): Promise<{ type: string; code: string; param: string | null; message: string }> {
  const body = (await answer.json()) as {
    error: { type: string; code: string; param: string | null; message: string };
  };
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  return body.error;
}

const lastCheck = () => world.checks.seen.at(-1) ?? { path: '', rawHeaders: [], body: '' };
const sentToModel = (): unknown => JSON.parse(world.upstream.seen.at(-1)?.text ?? 'null');
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGlkZGVu' } };

describe('input', () => {
  verifies(
    ['gateway:input:deny-non-stream', 'client:deny:no-retry'],
    'a request that is denied is stopped before the model',
    async () => {
      const before = world.checks.seen.length;
      const answer = await world.chat(says(`a ${words.deniedInput}`));
      expect(answer.status).toBe(403);
      expect(answer.headers.get('x-should-retry')).toBe('false');
      expect(await answer.json()).toEqual(blockedError);
      expect(world.upstream.seen).toEqual([]);
      expect(world.checks.seen.length).toBe(before + 1);
    },
  );

  verifies(['gateway:input:deny-stream'], 'a streamed request that is denied is stopped before the model', async () => {
    const answer = await world.chat({ ...says(words.deniedInput), stream: true });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual(blockedError);
    expect(world.upstream.seen).toEqual([]);
  });

  verifies(['gateway:input:mask-non-stream'], 'the text of a masked request reaches the model masked', async () => {
    const answer = await world.chat(says(`pay with ${words.maskedInput} now`));
    expect(answer.status).toBe(200);
    expect(sentToModel()).toEqual({ model: 'upstream-model', ...says('pay with *** now') });
  });

  verifies(
    [
      'gateway:input:mask-stream',
      'gateway:input:mask-stream-keeps-attachments',
      'gateway:input:mask-stream-keeps-tool-calls',
    ],
    'a masked streamed request reaches the model masked, with its attachments and tool calls',
    async () => {
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: `{"x":"${words.maskedInput}"}` } };
      const messages = [
        { role: 'user', content: [{ type: 'text', text: words.maskedInput }, image, { type: 'text', text: 'end' }] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: `got ${words.maskedInput}` },
      ];
      const answer = await world.chat({ messages, stream: true, tools: [] });
      expect(await answer.text()).toContain('[DONE]');
      expect(sentToModel()).toEqual({
        model: 'upstream-model',
        messages: [
          { role: 'user', content: [{ type: 'text', text: '*** end' }, image] },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c', content: 'got ***' },
        ],
        stream: true,
        tools: [],
      });
    },
  );

  verifies(
    [
      'gateway:extract:images-not-analyzed',
      'gateway:extract:images-never-sent',
      'gateway:extract:tool-arguments-not-analyzed',
    ],
    'text in images and tool arguments is not judged, and images are not sent to the runtime',
    async () => {
      const url = `data:text/plain,${words.deniedInput}`;
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: words.deniedInput } };
      const messages = [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url } },
            { type: 'text', text: 'look' },
          ],
        },
        { role: 'assistant', tool_calls: [call] },
      ];
      expect((await world.chat({ messages })).status).toBe(200);
      expect(sentToModel()).toEqual({ model: 'upstream-model', messages });
      const checks = world.checks.seen.slice(-2);
      expect(checks.map(({ path }) => path)).toEqual(['/request', '/response']);
      expect(JSON.parse(checks[0]?.body ?? '')).toEqual({
        body: {
          messages: [
            { role: 'user', content: 'look' },
            { role: 'assistant', content: '' },
          ],
        },
      });
    },
  );

  verifies(
    ['gateway:extract:attachments-preserved'],
    'image, audio and file of a request reach the model byte for byte and never the runtime, with a mask and without',
    async () => {
      const attachments =
        '{"type":"image_url","image_url":{"url":"data:image/png;base64,aGlkZGVu","detail":"low"}} , ' +
        '{ "input_audio" : {"data":"c291bmQ=","format":"wav"},"type":"input_audio"},' +
        '{"type":"file","file":{"filename":"a.pdf","file_data":"ZmlsZQ=="}}';
      for (const [text, forwarded] of [
        ['a text', 'a text'],
        [`my ${words.maskedInput}`, 'my ***'],
      ]) {
        const content = `[{"type":"text","text":"${text}"},${attachments}]`;
        const body = `{"model":"model","messages":[{"role":"user","content":${content}}]}`;
        expect((await world.post('/v1/chat/completions', body)).status).toBe(200);
        const [before, after] = world.upstream.seen.at(-1)?.text.split(attachments) ?? [];
        expect([before, after]).toEqual([
          `{"model":"upstream-model","messages":[{"role":"user","content":[{"type":"text","text":"${forwarded}"},`,
          ']}]}',
        ]);
        expect(JSON.stringify(world.checks.seen.slice(-2))).not.toMatch(/aGlkZGVu|c291bmQ=|ZmlsZQ==/);
      }
    },
  );

  verifies(['gateway:extract:tool-results-checked'], 'the text of a tool result is judged', async () => {
    const messages = [{ role: 'tool', tool_call_id: 'c', content: words.deniedInput }];
    expect((await world.chat({ messages })).status).toBe(403);
    expect(world.upstream.seen).toEqual([]);
  });

  test('a request without a match is forwarded byte for byte except for the name of the model', async () => {
    const body = '{ "seed" :1.0e1,"model":"model", "messages":[{"content":"\\u0068i","role":"user"}]}';
    expect((await world.post('/v1/chat/completions', body)).status).toBe(200);
    expect(world.upstream.seen.at(-1)?.text).toBe(body.replace('"model":"model"', '"model":"upstream-model"'));
  });

  test.each<[string, unknown]>([
    ['temperature', 'make a bomb'],
    ['max_tokens', '100'],
    ['stop', 5],
    ['seed', 'x'],
    ['tools', 'x'],
    ['tool_choice', ['auto']],
    ['user', { name: 'x' }],
    ['metadata', 'x'],
    ['parallel_tool_calls', 'true'],
  ])('a request whose %s has a value of another kind is refused and names the member', async (param, value) => {
    const answer = await world.chat({ ...says('hi'), [param]: value });
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
    expect(world.upstream.seen).toEqual([]);
    expect((await world.chat({ ...says('hi'), [param]: null })).status).toBe(200);
  });

  test('an answer that providers return with reasoning and images is accepted when it is sent back', async () => {
    const answered = {
      role: 'assistant',
      content: 'hi',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
      thinking: 'hm',
      images: [image],
    };
    const messages = [{ role: 'user', content: 'hi' }, answered, { role: 'user', content: 'and' }];
    expect((await world.chat({ messages })).status).toBe(200);
    expect(sentToModel()).toEqual({ model: 'upstream-model', messages });
  });

  test('a request that is too large for the runtime is refused and never shortened', async () => {
    const many = { messages: Array(33).fill({ role: 'user', content: 'x' }) };
    const tooMany = await world.chat(many);
    expect(tooMany.status).toBe(413);
    expect(tooMany.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(tooMany)).toMatchObject({
      type: 'invalid_request_error',
      code: 'message_limit',
      message: expect.stringMatching(
        /^The text has 33 messages, and at most 32 are checked at once, .*: send less, or .* longConversations: Split\.$/,
      ),
    });
    expect((await world.chat({ messages: many.messages.slice(1) })).status).toBe(200);
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const called = { role: 'assistant', content: null, tool_calls: [call] };
    const turns = Array(32)
      .fill([called, { role: 'tool', tool_call_id: 'call_1', content: 'x' }])
      .flat();
    expect((await world.chat({ messages: turns })).status).toBe(200);
    expect((await world.chat({ messages: [...turns, { role: 'user', content: 'x' }] })).status).toBe(413);
    const wrapping = Buffer.byteLength('{"body":{"messages":[{"role":"user","content":""}]}}');
    const tooLong = await world.chat(says('x'.repeat(32_768 - wrapping + 1)));
    expect(tooLong.status).toBe(413);
    expect(await errorOf(tooLong)).toMatchObject({
      type: 'invalid_request_error',
      code: 'body_too_large',
      message: expect.stringMatching(
        /^The text has 32769 bytes of JSON, and at most 32768 are checked at once, .*: send a shorter text\.$/,
      ),
    });
    expect((await world.chat(says('x'.repeat(32_768 - wrapping)))).status).toBe(200);
  });
});

describe('output', () => {
  verifies(['gateway:output:deny-non-stream'], 'a denied answer is blocked completely', async () => {
    world.upstream.play({ kind: 'answer', content: `before ${words.deniedOutput} after` });
    const answer = await world.chat(says('hi'));
    expect(answer.status).toBe(403);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await answer.json()).toEqual(blockedError);
  });

  verifies(
    ['gateway:output:mask-non-stream', 'client:result:handles-mask'],
    'a masked answer reaches the client masked',
    async () => {
      world.upstream.play({ kind: 'answer', content: `the ${words.maskedOutput} word` });
      const text = await (await world.chat(says('hi'))).text();
      expect(JSON.parse(text)).toMatchObject({
        model: 'model',
        choices: [{ message: { content: 'the *** word' } }],
      });
      expect(text).not.toContain(words.maskedOutput);
    },
  );

  test('content and refusal of an answer are judged in one check', async () => {
    const body = completionBody('fine').replace(
      '"content":"fine"',
      `"content":"fine","refusal":"a ${words.deniedOutput}"`,
    );
    world.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
    expect((await world.chat(says('hi'))).status).toBe(403);
    expect(JSON.parse(lastCheck().body)).toEqual({
      body: {
        choices: ['fine', `a ${words.deniedOutput}`].map((content) => ({ message: { role: 'assistant', content } })),
      },
    });
  });

  verifies(
    ['gateway:extract:reasoning-not-analyzed'],
    'text in reasoning and tool arguments of an answer is not judged',
    async () => {
      const extra = `"content":"fine","reasoning_content":"${words.deniedOutput}","tool_calls":[{"id":"${words.deniedOutput}"}]`;
      const body = completionBody('fine').replace('"content":"fine"', extra);
      world.upstream.play({ kind: 'raw', body, contentType: 'application/json; charset=utf-8' });
      const answer = await world.chat(says('hi'));
      expect(await answer.text()).toBe(body.replace('"scripted"', '"model"'));
      expect(lastCheck().body).not.toContain(words.deniedOutput);
    },
  );

  verifies(
    ['gateway:observe:never-blocks'],
    'requests and answers that only observe rules match pass unchanged',
    async () => {
      world.upstream.play({ kind: 'answer', content: `${words.observed} answer` });
      const answer = await world.chat(says(`${words.observed} question`));
      expect(await answer.text()).toBe(completionBody(`${words.observed} answer`).replace('"scripted"', '"model"'));
      expect(sentToModel()).toEqual({ model: 'upstream-model', ...says(`${words.observed} question`) });
      const streamed = await world.chat({ ...says('x'), stream: true });
      const frames = await streamed.text();
      expect(frames.endsWith('data: [DONE]\n\n')).toBe(true);
    },
  );

  test('a structured answer whose JSON a mask breaks is a failed check', async () => {
    world.upstream.play({ kind: 'answer', content: `{"a":${JSON.stringify(words.maskedOutput)}}` });
    const schema = { response_format: { type: 'json_object' } };
    expect((await world.chat({ ...says('hi'), ...schema })).status).toBe(200);
    world.upstream.play({ kind: 'answer', content: '{"a":1}' });
    const broken = JSON.stringify({
      action: {
        body: { choices: [{ message: { role: 'assistant', content: '{"a":***' } }] },
        reason: 'content_redacted',
      },
    });
    world.checks.inject(({ path }) =>
      path === '/response' ? { kind: 'rewrite', rewrite: (answer) => ({ ...answer, body: broken }) } : { kind: 'pass' },
    );
    const answer = await world.chat({ ...says('hi'), ...schema });
    expect(answer.status).toBe(503);
    expect(await errorOf(answer)).toMatchObject({ type: 'guardrail_error', code: 'structured_answer_unreadable' });
  });
});

describe('the context of a check', () => {
  verifies(
    [
      'gateway:context:builds-headers',
      'gateway:context:client-cannot-weaken-mode',
      'guardrail:headers:context-from-trusted-configuration',
      'guardrail:auth:caller-token-not-forwarded',
    ],
    'context headers come from the route, and no credential or context header of the client is forwarded',
    async () => {
      const mine = {
        'x-ap-gr-policy-id': 'mine',
        'x-ap-gr-response-mode': 'buffered',
        'x-ap-gr-extra': 'x',
        cookie: 'c=1',
      };
      await (await world.chat({ ...says('hi'), stream: true }, mine)).text();
      const [input, output] = world.checks.seen.slice(-2);
      const context = (rawHeaders: readonly string[] = []): Record<string, string> =>
        Object.fromEntries(
          rawHeaders
            .map((name, index) => [name.toLowerCase(), rawHeaders[index + 1] ?? ''] as const)
            .filter(([name], index) => index % 2 === 0 && (name.startsWith('x-ap-gr') || name === 'authorization')),
        );
      const expected = {
        authorization: `Bearer ${runtimeToken}`,
        'x-ap-gr-policy-id': 'policy',
        'x-ap-gr-policy-revision': '1',
        'x-ap-gr-bundle-digest': world.policy.pin.digest,
        'x-ap-gr-content-profile': world.policy.contentProfile,
      };
      expect(context(input?.rawHeaders)).toEqual({ ...expected, 'x-ap-gr-response-mode': 'buffered' });
      expect(context(output?.rawHeaders)).toEqual({ ...expected, 'x-ap-gr-response-mode': 'sse-reject' });
      const provider = JSON.stringify(world.upstream.seen.at(-1)?.headers);
      for (const secret of [clientKey, 'x-ap-gr', 'cookie', runtimeToken]) expect(provider).not.toContain(secret);
      expect(JSON.stringify([input, output])).not.toContain(clientKey);
    },
  );

  test('the known fields of a traceparent are forwarded to the provider, and no other text of the header', async () => {
    const fields = `${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    for (const [traceparent, forwarded] of [
      [`00-${fields}`, `00-${fields}`],
      [`01-${fields}-more`, `00-${fields}`],
      [`ff-${fields}`, undefined],
      ['anything else', undefined],
    ] as const) {
      await world.chat(says('hi'), { traceparent });
      expect(world.upstream.seen.at(-1)?.headers['traceparent']).toBe(forwarded);
    }
  });
});

describe('a check that fails', () => {
  verifies(
    ['guardrail:usage:gateway-webhook', 'gateway:events:error-is-not-match'],
    'a lost connection to the runtime stops the call on either side of the model, is not a deny, and may be retried',
    async () => {
      for (const path of ['/request', '/response']) {
        for (const fault of ['reset', 'truncate'] as const) {
          world.upstream.forget();
          world.checks.inject((check) => ({ kind: check.path === path ? fault : 'pass' }));
          const answer = await world.chat(says('hi'));
          expect(answer.status).toBe(503);
          expect(answer.headers.get('x-should-retry')).toBeNull();
          expect(await errorOf(answer)).toMatchObject({ type: 'guardrail_error', param: null });
          expect(world.upstream.seen).toHaveLength(path === '/request' ? 0 : 1);
        }
      }
    },
  );

  test('a failed check has the code of the runtime and no part of its message', async () => {
    const body = JSON.stringify({ code: 'rule_timeout', message: 'inner words', traceId: 't' });
    world.checks.inject({ kind: 'rewrite', rewrite: (answer) => ({ ...answer, status: 503, body }) });
    const answer = await world.chat(says('hi'));
    const error = await errorOf(answer);
    expect(error).toMatchObject({ type: 'guardrail_error', code: 'rule_timeout' });
    expect(error.message).not.toContain('inner words');
  });
});

describe('a provider that fails', () => {
  test.each([
    [400, 400, 'upstream_refused'],
    [401, 502, 'upstream_failed'],
    [404, 502, 'upstream_failed'],
    [408, 504, 'upstream_timeout'],
    [429, 429, 'upstream_rate_limited'],
    [500, 502, 'upstream_failed'],
    [503, 503, 'upstream_overloaded'],
    [302, 502, 'upstream_failed'],
    [204, 502, 'upstream_failed'],
  ])('status %d of a provider becomes %d %s without its message', async (status, ours, code) => {
    for (const stream of [false, true]) {
      const body = status === 204 ? '' : JSON.stringify({ error: { message: 'provider words' } });
      world.upstream.play({ kind: 'status', status, body, location: `${world.upstream.url}/elsewhere` });
      const answer = await world.chat({ ...says('hi'), stream });
      expect(answer.status).toBe(ours);
      const error = await errorOf(answer);
      expect(error).toMatchObject({ type: 'upstream_error', code });
      expect(error.message).not.toContain('provider words');
    }
    expect(world.upstream.seen.map(({ path }) => path)).toEqual(Array(2).fill('/v1/chat/completions'));
  });

  test('a provider answer with another media type, another shape or a broken connection is an upstream error', async () => {
    const codeOf = async (): Promise<string> => (await errorOf(await world.chat(says('hi')))).code;
    world.upstream.play({ kind: 'raw', body: completionBody('fine'), contentType: 'text/html' });
    expect(await codeOf()).toBe('upstream_invalid');
    world.upstream.play({ kind: 'raw', body: '{"choices":[]}', contentType: 'application/json' });
    expect(await codeOf()).toBe('upstream_invalid');
    world.upstream.play({ kind: 'reset' });
    expect(await codeOf()).toBe('upstream_unreachable');
    expect(world.gateway.log()).toMatch(/"cause":"network".*"event":"provider_unreachable"/);
    const metrics = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/portcullis_gateway_provider_failures_total\{cause="network"[^}]*\} [1-9]/);
    expect(metrics).toMatch(/portcullis_gateway_provider_failures_total\{cause="invalid_answer"[^}]*\} 2/);
  });
});

test('an answer of a provider may have 20 MiB, and one byte more is refused', async () => {
  const sized = (bytes: number): string => `{"x":"${'y'.repeat(bytes - '{"x":""}'.length)}"}`;
  world.upstream.play({ kind: 'raw', body: sized(maxAnswerBytes), contentType: 'application/json' });
  const whole = await world.chat({ model: 'open', ...says('hi') });
  expect((await whole.arrayBuffer()).byteLength).toBe(maxAnswerBytes);
  world.upstream.play({ kind: 'raw', body: sized(maxAnswerBytes + 1), contentType: 'application/json' });
  const answer = await world.chat({ model: 'open', ...says('hi') });
  expect(await errorOf(answer)).toMatchObject({ type: 'upstream_error', code: 'upstream_too_large' });
});

describe('a model', () => {
  test('an unknown model is answered with 404, and a request without a model with 400', async () => {
    const unknown = await world.chat({ model: 'nobody', ...says('hi') });
    expect(unknown.status).toBe(404);
    expect(await errorOf(unknown)).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect((await world.post('/v1/chat/completions', says('hi'))).status).toBe(400);
  });

  test('an unguarded model receives requests that a guarded one refuses', async () => {
    const before = world.checks.seen.length;
    const answer = await world.chat({ model: 'open', n: 2, anything: 1, ...says(words.deniedInput) });
    expect(answer.status).toBe(200);
    expect(sentToModel()).toMatchObject({ model: 'upstream-model', n: 2, anything: 1 });
    expect(world.checks.seen.length).toBe(before);
    const twice = await world.chat({ model: 'open', Model: 'other', ...says('hi') });
    expect(await errorOf(twice)).toMatchObject({ code: 'ambiguous_key' });
  });

  verifies(
    ['gateway:stream:whole-document-needs-stream-false'],
    'a model whose rules cannot judge a stream refuses one and answers without it',
    async () => {
      const streamed = await world.chat({ model: 'whole', ...says('hi'), stream: true });
      expect(streamed.status).toBe(400);
      expect(await errorOf(streamed)).toMatchObject({ code: 'unsupported_for_policy', param: 'stream' });
      expect((await world.chat({ model: 'whole', ...says('hi'), stream: false })).status).toBe(200);
    },
  );
});

test('the log and metrics of a gateway contain no text, key or token', async () => {
  world.upstream.play({ kind: 'answer', content: `outside ${words.deniedOutput}` });
  await world.chat(says('an inside text'));
  await world.chat({ model: 'name-of-a-model', ...says('x') });
  const metrics = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/portcullis_gateway_requests_total\{[^}]*alias="model"[^}]*outcome="denied"[^}]*\} [1-9]/);
  expect(world.gateway.log()).toContain('"outcome":"denied"');
  for (const text of ['inside', 'outside', words.deniedOutput, clientKey, runtimeToken, 'name-of-a-model']) {
    expect(world.gateway.log()).not.toContain(text);
    expect(metrics).not.toContain(text);
  }
});
