import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { served } from '../testing/start-gateway.ts';
import { blockedError, startWorld, type World, words } from '../testing/start-world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  putRoute('all', { judge: [...judgedTextKinds] });
  putRoute('strict', { unjudged: 'Refuse' });
  putRoute('strict-all', { judge: [...judgedTextKinds], unjudged: 'Refuse' });
  for (const kind of judgedTextKinds) putRoute(kind, { judge: [kind] });
  putRoute('toolCalls-divided', { judge: ['toolCalls'] }, { division: { allowed: true } });
  putRoute('toolCalls-whole', { judge: ['toolCalls'] }, { streaming: { allowed: false, rule: 'long' } });
  for (const kind of judgedTextKinds) {
    const others = judgedTextKinds.filter((other) => other !== kind);
    putRoute(`without-${kind}`, { judge: others, unjudged: 'Refuse' });
  }
  const every = judgedTextKinds.flatMap((kind) => [kind, `without-${kind}`]);
  await served(world.gateway, ['all', 'strict', 'strict-all', 'toolCalls-whole', 'toolCalls-divided', ...every]);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.upstream.forget();
  world.upstream.play({ kind: 'answer', content: 'fine' });
});

function putRoute(alias: string, rest: Partial<GatewayRouteSpec>, guard: Partial<GuardedRoute> = {}): void {
  const pin = { ...world.policy.pin, addresses: [world.checks.url] };
  const spec = routeSpec(alias, `${world.upstream.url}/v1`, routeGuard(pin, undefined, guard), rest);
  world.gateway.routes.put(storedRoute(alias, spec));
}

const said = { role: 'user', content: 'hi' };

/** For each kind of text, a request in which the given text is the only one of that kind. */
const requests: Readonly<Record<JudgedTextKind, (text: string) => object>> = {
  toolCalls: (text) => ({
    messages: [said, { role: 'assistant', content: null, tool_calls: [toolCall(JSON.stringify({ q: text }))] }],
  }),
  toolDefinitions: (text) => ({
    messages: [said],
    tools: [{ type: 'function', function: { name: 'f', description: text, parameters: { type: 'object' } } }],
  }),
  reasoning: (text) => ({ messages: [said, { role: 'assistant', content: 'a', reasoning_content: text }] }),
  names: (text) => ({ messages: [{ ...said, name: text }] }),
  parameters: (text) => ({ messages: [said], metadata: { note: text } }),
  files: (text) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'read this' },
          {
            type: 'file',
            file: { file_data: `data:text/plain;base64,${Buffer.from(text).toString('base64')}` },
          },
        ],
      },
    ],
  }),
};

function toolCall(args: string): object {
  return { id: 'call-1', type: 'function', function: { name: 'search', arguments: args } };
}

async function ask(alias: string, body: object): Promise<{ status: number; json: unknown }> {
  const answer = await world.chat({ ...body, model: alias });
  return { status: answer.status, json: await answer.json() };
}

const sent = (): Record<string, unknown> => JSON.parse(world.upstream.seen.at(-1)?.text ?? 'null');
const codeOf = ({ json }: { json: unknown }) => (json as { error: { code: string; param: string | null } }).error;

describe.each(judgedTextKinds)('text of kind %s in a request', (kind) => {
  test(`a request with a denied text of kind ${kind} is refused where the binding has it judged, and only there`, async () => {
    const body = requests[kind](`a ${words.deniedInput} b`);
    for (const alias of ['all', kind]) expect(await ask(alias, body)).toEqual({ status: 403, json: blockedError });
    expect(world.upstream.seen).toEqual([]);
    expect((await ask('model', body)).status).toBe(200);
  });

  test(`a request with text of kind ${kind} is refused where the binding refuses text that is not judged`, async () => {
    const refused = await ask(`without-${kind}`, requests[kind]('a harmless text'));
    expect(refused.status).toBe(400);
    expect(codeOf(refused).code).toBe('unjudged_text');
    expect(codeOf(refused).param).toMatch(/^[a-z_0-9.[\]]+$/);
    expect((await ask('strict-all', requests[kind]('a harmless text'))).status).toBe(200);
  });
});

describe('masks in a request', () => {
  test('a mask in the arguments of a tool call keeps them valid JSON', async () => {
    const args = `{"card": "x ${words.maskedInput} \\"y\\"", "n": [1, "${words.maskedInput}"]}`;
    const body = { messages: [said, { role: 'assistant', content: null, tool_calls: [toolCall(args)] }] };
    expect((await ask('toolCalls', body)).status).toBe(200);
    const [, message] = sent()['messages'] as readonly { tool_calls: { function: { arguments: string } }[] }[];
    expect(message?.tool_calls[0]?.function.arguments).toBe('{"card": "x *** \\"y\\"", "n": [1, "***"]}');
  });

  test('a mask of a key of the arguments is a deny, because the tool reads the key', async () => {
    const args = `{"${words.maskedInput}": 1}`;
    const body = { messages: [said, { role: 'assistant', content: null, tool_calls: [toolCall(args)] }] };
    expect((await ask('toolCalls', body)).status).toBe(403);
  });

  test.each([
    ['escapes of JSON', `{"q": "bad\\u0077ord"}`],
    ['escapes in JSON with a fault', `{"q": "bad\\u0077ord",}`],
    ['JSON of one string', `"bad\\u0077ord"`],
    ['no JSON', words.deniedInput],
  ])('a denied text in arguments with %s is found', async (_, args) => {
    const body = { messages: [said, { role: 'assistant', content: null, tool_calls: [toolCall(args)] }] };
    expect((await ask('toolCalls', body)).status).toBe(403);
  });

  test('a masked description of a tool reaches the model with the mask', async () => {
    expect((await ask('toolDefinitions', requests.toolDefinitions(`pay ${words.maskedInput}`))).status).toBe(200);
    expect(JSON.stringify(sent()['tools'])).toContain('"description":"pay ***"');
  });

  test('a mask of the name of a declared tool is a deny, because a call or a choice can repeat the name', async () => {
    const name = words.maskedInput;
    const body = { messages: [said], tools: [{ type: 'function', function: { name } }], tool_choice: name };
    expect((await ask('toolDefinitions', body)).status).toBe(403);
  });

  test('a mask in a decoded file is a deny, because the file has no place for it', async () => {
    expect((await ask('files', requests.files(words.maskedInput))).status).toBe(403);
  });

  test('texts that exceed one check are judged in several, and a denial by the last one denies the request', async () => {
    const before = world.checks.seen.length;
    const fields = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, `text ${at}`]));
    const body = (last: string) => requests.toolCalls(last) as { messages: { tool_calls: object[] }[] };
    const calls = (last: string) => {
      const { messages } = body(last);
      const [first, second] = messages;
      return {
        messages: [first, { ...second, tool_calls: [toolCall(JSON.stringify({ ...fields, last }))] }],
      };
    };
    expect((await ask('toolCalls', calls('fine'))).status).toBe(200);
    expect(world.checks.seen.length - before).toBeGreaterThan(5);
    expect((await ask('toolCalls', calls(words.deniedInput))).status).toBe(403);
  });

  test('masks of one call that are found in several checks are all applied to its arguments', async () => {
    const fields = Array.from({ length: 80 }, (_, at) => [`f${at}`, `text ${at} ${words.maskedInput}`] as const);
    const args = (mask: (text: string) => string) =>
      JSON.stringify(Object.fromEntries(fields.map(([key, text]) => [key, mask(text)])));
    const calls = (text: string) => ({
      messages: [said, { role: 'assistant', content: null, tool_calls: [toolCall(text)] }],
    });
    expect((await ask('toolCalls', calls(args((text) => text)))).status).toBe(200);
    const cleaned = args((text) => text.replace(words.maskedInput, '***'));
    expect(sent()).toMatchObject(calls(cleaned));
  });

  describe('a text of a call that is larger than one check', () => {
    const line = 'line of code\n';
    const calls = (text: string) => ({
      messages: [said, { role: 'assistant', content: null, tool_calls: [toolCall(JSON.stringify({ content: text }))] }],
    });

    test('a long text of a call is judged in pieces: a denied word in any of them refuses the request, and a mask is applied to its piece', async () => {
      const long = line.repeat(3_200);
      expect((await ask('toolCalls-divided', calls(long))).status).toBe(200);
      expect(sent()).toMatchObject(calls(long));
      for (const at of [0, 1_600, 3_200]) {
        const around = (word: string) => `${line.repeat(at)}${word}\n${line.repeat(3_200 - at)}`;
        expect((await ask('toolCalls-divided', calls(around(words.deniedInput)))).status).toBe(403);
        expect((await ask('toolCalls-divided', calls(around(words.maskedInput)))).status).toBe(200);
        expect(sent()).toMatchObject(calls(around('***')));
      }
    });

    test('where the rules cannot judge pieces, and where it has no blanks, the request is refused with the size and the limit', async () => {
      for (const [alias, text] of [
        ['toolCalls', line.repeat(3_200)],
        ['toolCalls-divided', 'x'.repeat(40_000)],
      ] as const) {
        const refused = await ask(alias, calls(text));
        expect(refused).toMatchObject({ status: 413, json: { error: { code: 'body_too_large' } } });
        expect(JSON.stringify(refused.json)).toMatch(/The text has \d+ bytes of JSON, and at most 32768 are checked/);
      }
      expect(world.upstream.seen).toEqual([]);
    });
  });

  test('a document that cannot be read is refused only where text that is not judged is refused', async () => {
    const body = {
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0xLjcA/w==' } }],
        },
      ],
    };
    expect((await ask('files', body)).status).toBe(200);
    expect(codeOf(await ask('strict-all', body))).toMatchObject({
      code: 'unjudged_text',
      param: 'messages[0].content[0].file',
    });
  });

  test('a mask of the name of a speaker or of a called tool is a deny, because the API reads it', async () => {
    expect((await ask('names', requests.names(words.maskedInput))).status).toBe(403);
    const call = { id: 'c', type: 'function', function: { name: `send_${words.maskedInput}`, arguments: '{}' } };
    const messages = [said, { role: 'assistant', content: null, tool_calls: [call] }];
    expect((await ask('names', { messages })).status).toBe(403);
    const input = [{ type: 'function_call', call_id: 'c', name: `send_${words.maskedInput}`, arguments: '{}' }];
    expect((await world.post('/v1/responses', { model: 'names', input })).status).toBe(403);
    expect(world.upstream.seen).toEqual([]);
  });

  test('a picture that is given as a string is forwarded unchanged, and text in such a string is judged', async () => {
    const ofString = (image_url: string) => ({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }],
    });
    const picture = `data:image/png;base64,${Buffer.alloc(60_000, 0xf1).toString('base64')}`;
    for (const alias of ['files', 'strict', 'strict-all']) {
      expect((await ask(alias, ofString(picture))).status).toBe(200);
      expect(sent()).toMatchObject(ofString(picture));
    }
    const hidden = `data:text/plain;base64,${Buffer.from(words.deniedInput).toString('base64')}`;
    expect((await ask('files', ofString(hidden))).status).toBe(403);
  });

  test('JSON with escapes in the strings of arguments that are an object is read, and a mask is applied to it', async () => {
    const calls = (q: string) => ({
      messages: [
        said,
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'f', arguments: { q } } }] },
      ],
    });
    expect((await ask('toolCalls', calls(`{"a": "bad\\u0077ord"}`))).status).toBe(403);
    expect((await ask('toolCalls', calls(`{"a": "c\\u0061rd-4111"}`))).status).toBe(200);
    expect(sent()).toMatchObject(calls('{"a": "***"}'));
  });

  test('an image is not text', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect((await ask('strict', { messages: [{ role: 'user', content: [image] }] })).status).toBe(200);
  });

  test('the parameters that every client sends are not refused as unjudged text', async () => {
    const body = { messages: [said], temperature: 0.5, tool_choice: 'auto', reasoning_effort: 'low', seed: 1 };
    expect((await ask('strict', body)).status).toBe(200);
    const values = {
      response_format: { type: 'json_object' },
      tool_choice: { type: 'auto' },
      logit_bias: { 50256: -100 },
    };
    expect((await ask('strict', { messages: [said], ...values })).status).toBe(200);
    expect(codeOf(await ask('strict', { messages: [said], user: 'u 1' }))).toMatchObject({ param: 'user' });
  });

  test('a text whose words are in members of an object is refused where its kind is not judged, and judged elsewhere', async () => {
    const spread = { a: 'please', b: words.deniedInput };
    for (const member of ['metadata', 'stream_options']) {
      const body = { messages: [said], [member]: spread };
      expect(codeOf(await ask('strict', body))).toMatchObject({ code: 'unjudged_text', param: member });
      expect(await ask('parameters', body)).toEqual({ status: 403, json: blockedError });
    }
    const names = { messages: ['please', 'tell'].map((name) => ({ ...said, name })) };
    expect(codeOf(await ask('strict', names))).toMatchObject({ code: 'unjudged_text', param: 'messages[0].name' });
    expect(world.upstream.seen).toEqual([]);
  });
});

describe('text parts of one message', () => {
  const parts = (...texts: readonly string[]) => ({
    messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
  });
  const halves = (word: string) => parts(`a ${word.slice(0, 3)}`, `${word.slice(3)} b`);

  test('a denied word that is split over text parts of one message is found, and a masked word that is split is a deny', async () => {
    for (const word of [words.deniedInput, words.maskedInput]) {
      expect(await ask('model', halves(word))).toEqual({ status: 403, json: blockedError });
    }
    expect(world.upstream.seen).toEqual([]);
  });

  test('masked text parts of one message become one part, and their seam is not a reason for a deny', async () => {
    expect((await ask('model', parts(`a ${words.maskedInput}`, 'b'))).status).toBe(200);
    expect(sent()['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'a *** b' }] }]);
  });

  test('a masked text of a part that the mask of its message removes needs no place', async () => {
    const text = `a ${words.maskedInput}`;
    const content = [
      { type: 'text', text },
      { type: 'text', text: 'b', cache_control: { type: `${words.maskedInput} x` } },
    ];
    expect((await ask('parameters', { messages: [{ role: 'user', content }] })).status).toBe(200);
    expect(sent()['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'a *** b' }] }]);
    const input = [
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text },
          { type: 'output_text', text: 'b', annotations: [{ title: `${words.maskedInput} x` }] },
        ],
      },
    ];
    await world.post('/v1/responses', { model: 'parameters', input });
    expect(sent()['input']).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a *** b' }] },
    ]);
  });

  test('the text of an attachment in the result of a tool is judged once, and a mask is applied to it', async () => {
    const input = (text: string) => [
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', filename: 'a b', text }] },
    ];
    await world.post('/v1/responses', { model: 'files', input: input(`a ${words.maskedInput}`) });
    expect(sent()['input']).toEqual(input('a ***'));
  });

  test('the seams of text parts do not add a check when the messages fill one check', async () => {
    const full = Array.from({ length: 31 }, () => said);
    expect((await ask('model', { messages: [...full, ...parts('a', 'b').messages] })).status).toBe(200);
    expect((await ask('model', { messages: [...full, ...halves(words.deniedInput).messages] })).status).toBe(403);
  });

  test('the parts of a message of the Responses API are joined in the same way', async () => {
    const word = words.deniedInput;
    const content = [word.slice(0, 3), word.slice(3)].map((text) => ({ type: 'input_text', text }));
    const answer = await world.post('/v1/responses', { model: 'model', input: [{ role: 'user', content }] });
    expect(answer.status).toBe(403);
  });
});

describe('inputs of embeddings', () => {
  test('a parameter of an embeddings request is judged where the binding has parameters judged', async () => {
    world.upstream.play({
      kind: 'raw',
      body: JSON.stringify({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }),
      contentType: 'application/json',
    });
    const send = async (model: string) =>
      (await world.post('/v1/embeddings', { model, input: 'hi', user: `a ${words.deniedInput}` })).status;
    expect(await send('model')).toBe(200);
    expect(await send('parameters')).toBe(403);
    expect(await send('strict')).toBe(400);
  });
});

describe('text in a whole answer', () => {
  /** For each kind of text, an answer in which the given text is the only one of that kind besides the content. */
  const answers: Readonly<Record<'toolCalls' | 'reasoning' | 'names' | 'parameters', (text: string) => object>> = {
    toolCalls: (text) => ({ tool_calls: [toolCall(JSON.stringify({ q: text }))] }),
    reasoning: (text) => ({ reasoning_content: text }),
    names: (text) => ({ tool_calls: [{ id: 'a', type: 'function', function: { name: text, arguments: '{}' } }] }),
    parameters: (text) => ({ annotations: [{ type: 'url_citation', url_citation: { title: text } }] }),
  };
  const play = (message: object, root: object = {}) =>
    world.upstream.play({
      kind: 'raw',
      body: JSON.stringify({
        ...root,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi', ...message } }],
      }),
      contentType: 'application/json',
    });
  const messageOf = ({ json }: { json: unknown }) =>
    (json as { choices: { message: Record<string, unknown> }[] }).choices[0]?.message;

  test.each(Object.keys(answers) as (keyof typeof answers)[])(
    'an answer with a denied text of kind %s is blocked where the binding has it judged, and only there',
    async (kind) => {
      play(answers[kind](words.deniedOutput));
      for (const alias of ['all', kind]) {
        expect(await ask(alias, { messages: [said] })).toEqual({ status: 403, json: blockedError });
      }
      expect((await ask('model', { messages: [said] })).status).toBe(200);
    },
  );

  test.each(Object.keys(answers) as (keyof typeof answers)[])(
    'an answer with text of kind %s is refused where the binding refuses text that is not judged',
    async (kind) => {
      play(answers[kind]('harmless words'));
      const refused = await ask(`without-${kind}`, { messages: [said] });
      expect(refused.status).toBe(502);
      expect(codeOf(refused).code).toBe('unjudged_answer');
      expect((await ask('strict-all', { messages: [said] })).status).toBe(200);
    },
  );

  test('a member of the provider in the root of an answer is judged as a parameter', async () => {
    play({}, { thoughts: words.deniedOutput });
    expect((await ask('parameters', { messages: [said] })).status).toBe(403);
  });

  test('a mask in the arguments of a tool call keeps them valid JSON, and judged reasoning stays', async () => {
    play({
      content: null,
      tool_calls: [toolCall(`{"q": "a ${words.maskedOutput}"}`)],
      reasoning_content: `about ${words.maskedOutput}`,
      annotations: [{ title: 'x' }],
    });
    const message = messageOf(await ask('all', { messages: [said] }));
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [toolCall('{"q": "a ***"}')],
      reasoning_content: 'about ***',
    });
  });

  test('a mask of the name of a called tool is a deny, because the client calls the tool by it', async () => {
    play(answers.names(`send_${words.maskedOutput}`));
    expect(await ask('names', { messages: [said] })).toEqual({ status: 403, json: blockedError });
    expect((await ask('model', { messages: [said] })).status).toBe(200);
  });

  test('an answer with sources can be sent back unchanged', async () => {
    const content = [
      { type: 'text', text: 'see' },
      { type: 'reference', reference_ids: [1, 2] },
      { type: 'text', text: 'this' },
    ];
    play({ content });
    const message = messageOf(await ask('model', { messages: [said] }));
    expect(message).toMatchObject({ content });
    for (const alias of ['model', 'strict', 'strict-all']) {
      expect((await ask(alias, { messages: [said, message, said] })).status).toBe(200);
      expect(sent()['messages']).toEqual([said, message, said]);
    }
  });

  test('the text parts of a message are judged and masked as one text, and its reasoning parts at the stage of reasoning', async () => {
    const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
    const text = (text: string) => ({ type: 'text', text });
    const content = [thinking('let me think'), text('an'), text('swer')];
    play({ content });
    expect(messageOf(await ask('model', { messages: [said] }))).toMatchObject({ content });
    expect((await ask('strict', { messages: [said] })).status).toBe(502);
    play({ content: [thinking('let me think'), text('lea'), text('ked')] });
    expect(await ask('model', { messages: [said] })).toEqual({ status: 403, json: blockedError });
    play({ content: [thinking(words.deniedOutput), text('fine')] });
    expect(await ask('reasoning', { messages: [said] })).toEqual({ status: 403, json: blockedError });
    play({ content: [thinking('let me think'), text(`a ${words.maskedOutput}`)] });
    expect(messageOf(await ask('model', { messages: [said] }))).toEqual({ role: 'assistant', content: 'a ***' });
  });

  test('an answer of tool calls without content is checked', async () => {
    play({ content: null, tool_calls: [toolCall('{"q": "fine"}')] });
    const before = world.checks.seen.length;
    expect(messageOf(await ask('toolCalls', { messages: [said] }))).toMatchObject({ content: null });
    expect(world.checks.seen.length - before).toBe(2);
  });

  describe('a text of a call that is larger than one check', () => {
    const long = (end: string) => JSON.stringify({ content: `${'line of code\n'.repeat(3_200)}${end}` });

    test('a long text of a call is judged in windows: it passes, a denied phrase in it blocks the answer, and a mask in it is a deny', async () => {
      play({ content: null, tool_calls: [toolCall(long('end'))] });
      const passed = await ask('toolCalls', { messages: [said] });
      expect(messageOf(passed)).toMatchObject({ tool_calls: [toolCall(long('end'))] });
      for (const word of [words.deniedOutput, words.maskedOutput]) {
        play({ content: null, tool_calls: [toolCall(long(word))] });
        expect(await ask('toolCalls', { messages: [said] })).toEqual({ status: 403, json: blockedError });
      }
    });

    test('a mask of another text of the answer is applied', async () => {
      play({
        content: `the ${words.maskedOutput}`,
        tool_calls: [toolCall(long('end')), toolCall(`"${words.maskedOutput}"`)],
      });
      expect(messageOf(await ask('toolCalls', { messages: [said] }))).toMatchObject({
        content: 'the ***',
        tool_calls: [toolCall(long('end')), toolCall('"***"')],
      });
    });

    test('where the rules cannot judge windows, the answer is refused with the size and the limit', async () => {
      play({ content: null, tool_calls: [toolCall(long('end'))] });
      const refused = await ask('toolCalls-whole', { messages: [said] });
      expect(refused).toMatchObject({ status: 503, json: { error: { code: 'body_too_large' } } });
      expect(JSON.stringify(refused.json)).toMatch(
        /The text has \d+ bytes of JSON, and at most 32768 are checked at once/,
      );
    });
  });
});

describe('text in a streamed answer', () => {
  const chunk = (delta: object) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
  const read = async (alias: string, deltas: readonly object[]) => {
    world.upstream.play({ kind: 'frames', frames: [...deltas.map(chunk), 'data: [DONE]\n\n'], end: 'end' });
    return (await world.chat({ messages: [said], stream: true, model: alias })).text();
  };
  const call = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });

  test('a denied text in the arguments of a tool call ends the stream before any frame of the call', async () => {
    const deltas = [{ content: 'let me see' }, call('{"q": "lea'), call('ked"}')];
    const text = await read('toolCalls', deltas);
    expect(text).toBe(`${chunk({ content: 'let me see' })}data: ${JSON.stringify(blockedError)}\n\n`);
    expect(await read('model', deltas)).toContain('[DONE]');
  });

  test('a masked text in the arguments of a tool call ends the stream, because a stream cannot be masked', async () => {
    expect(await read('toolCalls', [call(`{"q": "${words.maskedOutput}"}`)])).toContain('policy_denied');
  });

  test('a denied text in reasoning ends the stream', async () => {
    expect(await read('reasoning', [{ reasoning_content: words.deniedOutput }])).toContain('policy_denied');
    expect(await read('reasoning', [{ reasoning_content: 'fine' }])).toContain('[DONE]');
  });

  test('a stream with text that is not judged ends with an error where the binding refuses such text', async () => {
    expect(await read('strict', [{ reasoning_content: 'let me think' }])).toContain('unjudged_answer');
    expect(await read('strict-all', [{ reasoning_content: 'let me think' }])).toContain('[DONE]');
  });
});
