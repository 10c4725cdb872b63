import { describe, expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { parseTree } from '#kit/json/parse-tree';
import { isApiWord } from '../judged/covered-texts.ts';
import { sentTexts } from '../judged/sent-texts.ts';
import { messageItem, responseBody, responseEvents } from '../testing/response-script.ts';
import { readEvent } from './read-event.ts';
import { readResponsesAnswer } from './read-responses-answer.ts';
import { readResponsesTexts } from './read-responses-request.ts';

const phrase = 'make a bomb';
const card = '41111111111111111111';
const all: ReadonlySet<JudgedTextKind> = new Set(judgedTextKinds);
const none: ReadonlySet<JudgedTextKind> = new Set();
const base64 = Buffer.from(phrase).toString('base64');
/** JSON in which the word NUMBER is replaced by a long number, whose digits JavaScript would lose. */
const written = (value: unknown): Buffer => Buffer.from(JSON.stringify(value).replaceAll('"NUMBER"', card));

const request = {
  model: 'alias',
  input: 'hi',
  instructions: 'You are a careful assistant.',
  metadata: { note: 'a note of the client' },
  tools: [{ type: 'function', name: 'f', description: 'Looks things up.', parameters: { type: 'object' } }],
};
const sent = sentTexts(written(request));

function readWhole(more: object, judged: ReadonlySet<JudgedTextKind>, output: readonly object[] = []) {
  const items = [messageItem(['hi']), ...output] as Parameters<typeof responseBody>[0];
  const bytes = written(responseBody(items, more as Record<string, unknown>));
  const read = readResponsesAnswer(parseTree(bytes), bytes, { judged, refuseUnjudged: true, sent });
  if (read === undefined || read === 'failed') throw new Error('the answer is not valid');
  const { units, unjudgedAt } = read.further;
  return { units: units.filter(({ content }) => !isApiWord(content)), unjudgedAt };
}

function readOne(event: object, judged: ReadonlySet<JudgedTextKind>) {
  const read = readEvent(written(event), { judged, refuseUnjudged: true, sent });
  if (read.kind !== 'event') throw new Error(`the event is ${read.kind}`);
  return { texts: [...read.others.map(({ content }) => content), ...read.deltas.map(({ text }) => text)], ...read };
}

/** Members of an answer, and the text that must be judged. */
const members: Readonly<Record<string, readonly [object, string?]>> = {
  instructions: [{ instructions: phrase }],
  metadata: [{ metadata: { note: phrase } }],
  tools: [{ tools: [{ ...request.tools[0], description: phrase }] }],
  text: [{ text: { format: { type: 'json_schema', name: phrase } } }],
  reasoning: [{ reasoning: { summary: phrase } }],
  prompt: [{ prompt: { id: 'p', variables: { x: phrase } } }],
  usage: [{ usage: { input_tokens: 1, note: phrase } }],
  'a number in usage': [{ usage: { input_tokens: 'NUMBER' } }, card],
  status: [{ status: phrase }],
  id: [{ id: phrase }],
  incomplete_details: [{ incomplete_details: { reason: phrase } }],
  'a member that the API does not have': [{ note: phrase }],
};

/** Items of an answer, and the text that must be judged. */
const items: Readonly<Record<string, readonly [object, string?]>> = {
  'role of a message': [{ type: 'message', role: phrase, content: [] }],
  'phase of a message': [{ type: 'message', role: 'assistant', phase: phrase, content: [] }],
  'status of a call': [{ type: 'function_call', name: 'f', arguments: '{}', status: phrase }],
  'encrypted content that is text': [{ type: 'reasoning', summary: [], encrypted_content: base64 }],
  'encrypted content that is not base64': [{ type: 'reasoning', summary: [], encrypted_content: phrase }],
  'a picture that is text': [{ type: 'image_generation_call', status: 'completed', result: base64 }],
  'a picture that is not base64': [{ type: 'image_generation_call', status: 'completed', result: phrase }],
  'a number in results': [{ type: 'file_search_call', results: [{ text: 'x', score: 'NUMBER' }] }, card],
  'an id that is an object': [{ type: 'file_search_call', results: [{ file_id: { x: phrase } }] }],
  'a name in an item of an unknown type': [{ type: 'new_call', [phrase]: 1 }],
  'a number in an item of an unknown type': [{ type: 'new_call', x: 'NUMBER' }, card],
};

describe('text of an answer outside of its judged texts', () => {
  test.each(Object.entries(members))(
    'further text is judged or refused in a whole answer: %s',
    (_, [more, text = phrase]) => {
      expect(readWhole(more, all).units.map(({ content }) => content)).toContain(text);
      if (text === phrase) expect(readWhole(more, none).unjudgedAt).toBeDefined();
    },
  );

  test.each(Object.entries(members))(
    'further text is judged or refused in a stream: %s',
    (_, [more, text = phrase]) => {
      for (const type of ['response.created', 'response.completed']) {
        const event = { type, response: responseBody([], more as Record<string, unknown>) };
        expect(readOne(event, all).texts).toContain(text);
        if (text === phrase) expect(readOne(event, none).unjudged).toBe(true);
      }
    },
  );

  test.each(Object.entries(items))('further text is judged or refused in an item: %s', (_, [item, text = phrase]) => {
    expect(readWhole({}, all, [item]).units.map(({ content }) => content)).toContain(text);
    if (text === phrase) expect(readWhole({}, none, [item]).unjudgedAt).toBeDefined();
    const event = { type: 'response.output_item.done', output_index: 1, item };
    expect(readOne(event, all).texts).toContain(text);
  });

  test('members that repeat the request are no text, also with the defaults that a provider adds', () => {
    const tools = [{ ...request.tools[0], strict: true, description: 'Looks things up.' }];
    const { instructions, metadata } = request;
    const more = {
      instructions,
      metadata,
      tools,
      model: 'Some Model (new)',
      text: { format: { type: 'text' }, verbosity: 'medium' },
    };
    expect(readWhole(more, all)).toEqual({ units: [], unjudgedAt: undefined });
    expect(readWhole(more, none).unjudgedAt).toBeUndefined();
  });

  test('a name of the model whose key has an escape is a text, because the alias does not replace it', () => {
    const json = JSON.stringify(responseBody([messageItem(['hi'])], { model: phrase }));
    const read = (text: string, judged: ReadonlySet<JudgedTextKind>) => {
      const bytes = Buffer.from(text);
      const answer = readResponsesAnswer(parseTree(bytes), bytes, { judged, refuseUnjudged: true, sent });
      if (answer === undefined || answer === 'failed') throw new Error('the answer is not valid');
      return answer.further;
    };
    const escaped = json.replace('"model"', '"mod\\u0065l"');
    expect(read(escaped, all).units.map(({ content }) => content)).toContain(phrase);
    expect(read(escaped, none).unjudgedAt).toBeDefined();
    expect(read(json, none).unjudgedAt).toBeUndefined();
  });

  test('an event whose key of the response has an escape is invalid, because the alias is not put into it', () => {
    const coverage = { judged: none, refuseUnjudged: false };
    const json = JSON.stringify({ type: 'response.created', response: responseBody([], { model: phrase }) });
    expect(readEvent(Buffer.from(json), coverage).kind).toBe('event');
    expect(readEvent(Buffer.from(json.replace('"response":', '"r\\u0065sponse":')), coverage).kind).toBe('invalid');
  });

  test('encrypted reasoning and a picture in base64 are no text', () => {
    const data = Buffer.from([0x89, 0x50, 0xff, 0x00]).toString('base64');
    const output = [
      { type: 'reasoning', summary: [], encrypted_content: data },
      { type: 'image_generation_call', status: 'completed', result: data },
    ];
    expect(readWhole({}, all, output)).toEqual({ units: [], unjudgedAt: undefined });
    expect(readWhole({}, none, output).unjudgedAt).toBeUndefined();
  });
});

describe('text of an event outside of its judged texts', () => {
  const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hi' };
  const image = { type: 'response.image_generation_call.partial_image', output_index: 0, partial_image_index: 0 };
  const events: Readonly<Record<string, readonly [object, string?]>> = {
    obfuscation: [{ ...delta, obfuscation: phrase }],
    item_id: [{ ...delta, item_id: phrase }],
    quality: [{ ...image, quality: phrase }],
    size: [{ ...image, size: phrase }],
    background: [{ ...image, background: phrase }],
    'a partial picture that is text': [{ ...image, partial_image_b64: base64 }],
    'a partial picture that is not base64': [{ ...image, partial_image_b64: phrase }],
    'a number of the event': [{ ...delta, sequence_number: 'NUMBER' }, card],
    'a number in an event of a tool': [
      { type: 'response.file_search_call.completed', output_index: 0, item: ['NUMBER'] },
      card,
    ],
    'a name in an event of a tool': [
      { type: 'response.file_search_call.completed', output_index: 0, item: { [phrase]: 1 } },
    ],
    'a name in a piece of an unknown text': [{ type: 'response.new.delta', output_index: 0, delta: { [phrase]: 1 } }],
    'a number in a piece of an unknown text': [
      { type: 'response.new.delta', output_index: 0, delta: ['NUMBER'] },
      card,
    ],
  };

  test.each(Object.entries(events))('further text is judged or refused: %s', (_, [event, text = phrase]) => {
    expect(readOne(event, all).texts.map((one) => one.trim())).toContain(text);
    if (text === phrase && !('delta' in event && typeof event.delta === 'object'))
      expect(readOne(event, none).unjudged).toBe(true);
  });

  test('the events of a plain stream have no further text', () => {
    for (const event of responseEvents([messageItem(['hi'])])) {
      const padded = { ...event, obfuscation: 'aB3xYz0123456789', item_id: 'msg_1' };
      const { others, unjudged } = readOne(padded, all);
      expect(others.filter(({ content }) => !isApiWord(content))).toEqual([]);
      expect(unjudged).toBe(false);
    }
  });
});

describe('text of a request outside of its judged texts', () => {
  const read = (more: object, judged: ReadonlySet<JudgedTextKind>) => {
    const bytes = written({ model: 'm', input: 'hi', ...more });
    return readResponsesTexts(parseTree(bytes), bytes, judged);
  };
  const said = (more: object) => ({ input: [{ type: 'message', role: 'user', content: 'hi', ...more }] });
  const part = (one: object) => said({ content: [one] });

  test.each<[string, object, string?]>([
    ['a member of stream_options', { stream_options: { note: phrase } }],
    ['the role of a message', said({ role: phrase })],
    ['the id of a message', said({ id: phrase })],
    ['the phase of a message', said({ phase: phrase })],
    ['a transcript of a recording', part({ type: 'input_audio', input_audio: { data: 'AAAA', transcript: phrase } })],
    ['a file in base64 without a label', part({ type: 'input_file', file_data: base64 })],
    ['the id of a file', part({ type: 'input_file', file_id: phrase })],
    ['text with the label of a picture', part({ type: 'input_image', image_url: `data:image/png;base64,${base64}` })],
    ['a number in a result', { input: [{ type: 'function_call_output', call_id: 'c', output: ['NUMBER'] }] }, card],
    ['a number in a parameter', { metadata: { card: 'NUMBER' } }, card],
    ['the id of a call', { input: [{ type: 'function_call_output', call_id: phrase, output: 'x' }] }],
  ])('further text is judged or refused: %s', (_, more, text = phrase) => {
    expect(read(more, all).units.map(({ content }) => content)).toContain(text);
    if (text === phrase) expect(read(more, none).unjudgedAt).toBeDefined();
  });

  test.each([{ file_id: 'file-abc123' }, { file_url: 'https://files.example/a.pdf' }])(
    'a document that the provider stores or fetches cannot be judged, a picture has no text: %j',
    (where) => {
      const document = { type: 'input_file', ...where };
      const result = (output: unknown) => ({ input: [{ type: 'function_call_output', call_id: 'c', output }] });
      expect(read(part(document), all).unjudgedAt).toBe('input[0].content[0]');
      expect(read(result([document]), all).unjudgedAt).toBe('input[0].output');
      expect(read(result({ files: [document] }), all).unjudgedAt).toBe('input[0].output');
      expect(read(part({ type: 'input_image', ...where }), all).unjudgedAt).toBeUndefined();
      expect(read(part({ type: 'input_file', file_id: null, file_data: base64 }), all).unjudgedAt).toBeUndefined();
    },
  );

  test('members that official clients send are not judged as further texts', () => {
    const input = [
      { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', phase: 'final_answer', content: 'hi' },
      { type: 'function_call_output', call_id: 'call_1', output: 'x', status: 'completed' },
    ];
    expect(read({ input, stream: true, stream_options: { include_obfuscation: false } }, all).units).toEqual([]);
  });
});
