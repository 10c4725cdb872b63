import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../e2e/support/verifies.ts';
import type { RequestRefusal } from './parse-result.ts';
import { readChatRequest } from './read-chat-request.ts';
import { readEnvelope } from './read-envelope.ts';
import { maskEdits, renameModel, rewriteBody } from './rewrite-body.ts';

type Rules = Parameters<typeof readChatRequest>[1];
const open: Rules = { textOnly: false, streaming: 'served', extraKeys: new Set<string>() };
const textOnly = { ...open, textOnly: true };

function read(body: string, rules = open) {
  const envelope = readEnvelope(Buffer.from(body));
  return envelope.ok ? readChatRequest(envelope.value.root, rules) : envelope;
}

function refusalOf(body: string | object, rules = open): RequestRefusal | undefined {
  const reading = read(typeof body === 'string' ? body : JSON.stringify(body), rules);
  return reading.ok ? undefined : reading.refusal;
}

function unitsOf(messages: unknown): readonly { role: string; content: string }[] {
  const reading = read(JSON.stringify({ model: 'm', messages }));
  if (!reading.ok) throw new Error(reading.refusal.code);
  return reading.value.units.map(({ role, content }) => ({ role, content }));
}

/** The texts without those around the places where parts are joined. */
function joinedOf(messages: unknown): readonly { role: string; content: string }[] {
  const reading = read(JSON.stringify({ model: 'm', messages }));
  if (!reading.ok) throw new Error(reading.refusal.code);
  const units = reading.value.units.filter(({ place }) => place.kind !== 'seam');
  return units.map(({ role, content }) => ({ role, content }));
}

/** The request body after a mask that replaces the content of each message by the given texts. */
function masked(body: string, contents: readonly string[]): string {
  const envelope = readEnvelope(Buffer.from(body));
  if (!envelope.ok) throw new Error(envelope.refusal.code);
  const reading = readChatRequest(envelope.value.root, open);
  if (!reading.ok) throw new Error(reading.refusal.code);
  const units = reading.value.units.filter(({ place }) => place.kind !== 'seam');
  const edits = maskEdits(units, contents);
  if (edits.kind !== 'edits') throw new Error('no place for a text');
  return Buffer.from(rewriteBody(Buffer.from(body), edits.edits)).toString('utf8');
}

const user = [{ role: 'user', content: 'hi' }];
/** A chat request with one message that has the given members. */
const message = (members: object) => ({ messages: [{ role: 'user', content: 'a', ...members }] });
const image = (data: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } });

describe('the texts of a request', () => {
  verifies(
    ['gateway:extract:text-parts', 'gateway:extract:images-not-analyzed', 'gateway:extract:images-never-sent'],
    'the checked text of a message is its text parts joined by one space, without attachments',
    () => {
      const content = [
        { type: 'text', text: 'one' },
        image('SECRET'),
        { type: 'input_audio', input_audio: { data: 'SECRET', format: 'wav' } },
        { type: 'text', text: 'two' },
      ];
      expect(joinedOf([{ role: 'user', content }])).toEqual([{ role: 'user', content: 'one two' }]);
    },
  );

  test('the places where text parts are joined are further texts, without the space', () => {
    const content = ['make a bo', '', 'mb'].map((text) => ({ type: 'text', text }));
    expect(unitsOf([{ role: 'user', content }])).toEqual([
      { role: 'user', content: 'make a bo  mb' },
      { role: 'user', content: 'make a bomb' },
    ]);
  });

  verifies(
    ['gateway:extract:tool-results-checked', 'gateway:extract:tool-arguments-not-analyzed'],
    'the text of tool results is checked, and arguments of tool calls are not',
    () => {
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"argument"}' } };
      const messages = [
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'result' },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'in parts' }] },
      ];
      expect(unitsOf(messages)).toEqual([
        { role: 'assistant', content: '' },
        { role: 'tool', content: 'result' },
        { role: 'tool', content: 'in parts' },
      ]);
    },
  );

  test('texts of every role are checked, and a refusal as a separate message', () => {
    const messages = [
      { role: 'developer', content: 'd' },
      { role: 'narrator', content: 'n' },
      { role: 'assistant', content: 'a', refusal: 'r' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'p' }] },
      { role: 'user' },
      { role: 'user', content: [image('x')] },
    ];
    expect(unitsOf(messages).map(({ role, content }) => `${role}:${content}`)).toEqual([
      'developer:d',
      'narrator:n',
      'assistant:a',
      'assistant:r',
      'assistant:p',
      'user:',
      'user:',
    ]);
  });
});

describe('a masked request', () => {
  verifies(
    ['gateway:mask:text-parts-merged', 'gateway:mask:images-keep-data', 'gateway:mask:images-keep-order'],
    'a masked message has one text part at the position of the first, and its images byte for byte in their order',
    () => {
      const first = '{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}';
      const second = '{ "image_url" : {"url":"data:image/png;base64,BB\\u003d\\u003d"}, "type":"image_url" }';
      const body = `{"model":"m","messages":[{"role":"user","content":[ ${first} , {"type":"text","text":"a \\u0062ad"}, ${second},{"text":"word","type":"text"} ,{"type":"text","text":"end"}]}]}`;
      expect(masked(body, ['a *** end'])).toBe(
        `{"model":"m","messages":[{"role":"user","content":[ ${first} , {"type":"text","text":"a *** end"}, ${second}]}]}`,
      );
    },
  );

  verifies(
    ['gateway:extract:service-fields-preserved'],
    'a masked request keeps every byte outside the cleaned texts',
    () => {
      const body =
        '{"temperature":1.50,"model":"m","tools":[{"type":"function","function":{"name":"f"}}],\n "messages":[{"role":"user","content":"bad"},{"role":"assistant","content":"fine","refusal":"bad too","name":"n"}],"seed":12345678901234567890}';
      expect(masked(body, ['***', 'fine', '*** too'])).toBe(
        body.replace('"bad"', '"***"').replace('"bad too"', '"*** too"'),
      );
    },
  );

  test('a masked text may become empty, and an unmasked text keeps its escapes', () => {
    const body = '{"model":"m","messages":[{"role":"user","content":"\\u0061"},{"role":"user","content":"b"}]}';
    expect(masked(body, ['a', ''])).toBe(body.replace('"b"', '""'));
  });

  test('a mask cannot add text to a message without text', () => {
    expect(() => masked('{"model":"m","messages":[{"role":"user","content":null}]}', ['x'])).toThrow('no place');
  });

  test('a request without a mask is forwarded unchanged except for the name of the model', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1 }), (contents) => {
        const messages = contents.map((content) => ({ role: 'user', content }));
        const body = `{ "messages":${JSON.stringify(messages)},"model" : "alias"}`;
        const envelope = readEnvelope(Buffer.from(body));
        expect(envelope.ok).toBe(true);
        if (!envelope.ok) return;
        const forwarded = rewriteBody(Buffer.from(body), [renameModel(envelope.value.model, 'real')]);
        expect(Buffer.from(forwarded).toString('utf8')).toBe(
          `{ "messages":${JSON.stringify(messages)},"model" : "real"}`,
        );
      }),
    );
  });
});

describe('a request is refused', () => {
  const twice = '{"model":"m","messages":[{"role":"user","content":"a","content":"b"}]}';
  const part = (members: object) => message({ content: [members] });

  test.each<[string, string | object, RequestRefusal['code'], string | null]>([
    ['for a repeated key', '{"model":"m","model":"x","messages":[]}', 'invalid_json', null],
    ['for a repeated key deep inside', twice, 'invalid_json', null],
    ['when it is not JSON', 'hello', 'invalid_json', null],
    ['when it is not an object', '[]', 'invalid_request', null],
    ['without a model', { model: undefined }, 'invalid_request', 'model'],
    ['for a second model in another case', { Model: 'x' }, 'ambiguous_key', 'model'],
    ['for a model behind a folded letter', { 'mode\u004c': 'x' }, 'ambiguous_key', 'model'],
    ['for messages in another case', { Messages: [] }, 'ambiguous_key', 'Messages'],
    ['for a key that folds to a known one', { meſſages: [] }, 'ambiguous_key', '(root)'],
    ['for the Kelvin sign', { 'max_to\u212aens': 1 }, 'ambiguous_key', '(root)'],
    ['for content in another case', message({ CONTENT: 'b' }), 'ambiguous_key', 'messages[0].CONTENT'],
    ['for text in another case', part({ type: 'text', Text: 'b' }), 'ambiguous_key', 'messages[0].content[0].Text'],
    [
      'for arguments of a call in another case',
      message({ tool_calls: [{ id: 'c', function: { name: 'f', Arguments: '{}' } }] }),
      'ambiguous_key',
      'messages[0].tool_calls',
    ],
    [
      'for arguments of a function call in another case',
      message({ function_call: { name: 'f', Arguments: '{}' } }),
      'ambiguous_key',
      'messages[0].function_call',
    ],
    ['for an unknown key', { prompt: 'x' }, 'unknown_key', 'prompt'],
    ['for an unknown key of a message', message({ text: 'b' }), 'unknown_key', 'messages[0].text'],
    ['for an unknown part', part({ type: 'document' }), 'unsupported_value', 'messages[0].content[0].type'],
    [
      'for a part with two contents',
      part({ ...image('x'), text: 'b' }),
      'invalid_request',
      'messages[0].content[0].text',
    ],
    ['without messages', { messages: undefined }, 'invalid_request', 'messages'],
    ['with no message', { messages: [] }, 'invalid_request', 'messages'],
    ['for a message without a role', message({ role: undefined }), 'invalid_request', 'messages[0].role'],
    ['for content of another shape', message({ content: 1 }), 'invalid_request', 'messages[0].content'],
    ['for a refusal of another shape', message({ refusal: [] }), 'invalid_request', 'messages[0].refusal'],
    ['for log probabilities', { logprobs: true }, 'unsupported_value', 'logprobs'],
    ['for a prediction', { prediction: { type: 'content', content: 'x' } }, 'unsupported_value', 'prediction'],
    ['for audio output', { modalities: ['text', 'audio'] }, 'unsupported_value', 'modalities'],
    ['for a voice', { audio: { voice: 'v' } }, 'unsupported_value', 'audio'],
    ['for a stream that is not a boolean', { stream: 'yes' }, 'invalid_request', 'stream'],
  ])('a request is refused %s', (_, body, code, param) => {
    expect(refusalOf(typeof body === 'string' ? body : { model: 'm', messages: user, ...body })).toEqual({
      code,
      param,
    });
  });

  verifies(['gateway:request:n-1-only'], 'a request with n other than 1 is refused, and n of 1 is accepted', () => {
    for (const n of [2, 0, 1.5, '1']) {
      expect(refusalOf({ model: 'm', messages: user, n })).toEqual({ code: 'unsupported_value', param: 'n' });
    }
    expect(refusalOf({ model: 'm', messages: user, n: 1 })).toBeUndefined();
    expect(refusalOf({ model: 'm', messages: user, n: null })).toBeUndefined();
  });

  test.each<[string, object]>([
    ['a stream', { stream: true }],
    ['tools', { tools: [] }],
    ['functions', { functions: [] }],
    ['an image', { messages: [{ role: 'user', content: [image('x')] }] }],
    ['a tool call', { messages: [{ role: 'assistant', tool_calls: [] }] }],
    ['a tool result', { messages: [{ role: 'tool', content: 'x' }] }],
  ])('a request with %s is refused under a text profile, and only there', (_, rest) => {
    const body = { model: 'm', messages: user, ...rest };
    expect(refusalOf(body, textOnly)?.code).toBe('unsupported_for_profile');
    expect(refusalOf(body)).toBeUndefined();
  });

  test('a stream is refused when a rule of the policy cannot judge streams', () => {
    const body = { model: 'm', messages: user, stream: true };
    expect(refusalOf(body, { ...open, streaming: 'unjudged' })).toEqual({
      code: 'unsupported_for_policy',
      param: 'stream',
    });
    expect(refusalOf(body, { ...open, streaming: 'refused' })).toEqual({ code: 'streaming_refused', param: 'stream' });
    expect(refusalOf({ ...body, stream: false }, { ...open, streaming: 'unjudged' })).toBeUndefined();
  });
});

test('an assistant message that a client appends unchanged is accepted, and its content and refusal are judged', () => {
  const answer = {
    role: 'assistant',
    content: 'a',
    refusal: null,
    annotations: [],
    audio: null,
    function_call: null,
    tool_calls: null,
    reasoning_content: 'not judged',
    reasoning: 'not judged',
    parsed: { a: 1 },
  };
  expect(unitsOf([...user, answer])).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'a' },
  ]);
  expect(refusalOf({ model: 'm', messages: [...user, { ...answer, content_parts: [] }] })).toEqual({
    code: 'unknown_key',
    param: 'messages[1].content_parts',
  });
});

test('parts keep their cache markers, and a marker of another name is refused', () => {
  const marked = { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } };
  const other = { ...image('x'), prompt_cache_breakpoint: { mode: 'explicit' } };
  expect(unitsOf([{ role: 'user', content: [marked, other] }])).toEqual([{ role: 'user', content: 'a' }]);
  expect(refusalOf({ model: 'm', messages: [{ role: 'user', content: [{ ...marked, cache: 1 }] }] })).toEqual({
    code: 'unknown_key',
    param: 'messages[0].content[0].cache',
  });
});

test('a binding can allow further keys, except a key that folds to a known key', () => {
  const rules = { ...open, extraKeys: new Set(['top_k', 'Messages']) };
  expect(refusalOf({ model: 'm', messages: user, top_k: 1 }, rules)).toBeUndefined();
  expect(refusalOf({ model: 'm', messages: user, Messages: 1 }, rules)?.code).toBe('ambiguous_key');
});

test('reading any bytes yields a request or a refusal', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), fc.string({ unit: 'binary' })), (text) => {
      expect(typeof read(text).ok).toBe('boolean');
    }),
    { numRuns: 500 },
  );
});
