import { describe, expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { parseTree } from '#kit/json/parse-tree';
import { readChatAnswer } from '../chat/read-chat-answer.ts';
import { declarationsOf, declaredMembers } from '../chat/testing/declared-members.ts';
import { readChunk } from '../stream/read-chunk.ts';
import { isWithoutFurtherText, readAnswerTexts } from './answer-texts.ts';
import { readDeltaTexts } from './delta-texts.ts';
import { readRequestTexts } from './request-texts.ts';

const phrase = 'make a bomb';
const card = '41111111111111111111';
const all: ReadonlySet<JudgedTextKind> = new Set(judgedTextKinds);
const none: ReadonlySet<JudgedTextKind> = new Set();
const base64 = Buffer.from(phrase).toString('base64');

/** JSON in which the word NUMBER is a placeholder for a long number, whose digits JavaScript would lose. */
const written = (value: unknown): Buffer => Buffer.from(JSON.stringify(value).replaceAll('"NUMBER"', card));

type Place = { readonly root?: object; readonly choice?: object; readonly message?: object };

const parts = (...content: readonly object[]) => ({ content });

/** Members that a provider can send in addition to the content, and the text that must be judged. */
const answers: Readonly<Record<string, readonly [Place, string?]>> = {
  'content in the root': [{ root: { content: phrase } }],
  'message in the root': [{ root: { message: { content: phrase } } }],
  'delta in the root': [{ root: { delta: phrase } }],
  'role in the root': [{ root: { role: phrase } }],
  'id of the answer': [{ root: { id: phrase } }],
  'object of the answer': [{ root: { object: phrase } }],
  'time of the answer': [{ root: { created: 'NUMBER' } }, card],
  'model that is no name': [{ root: { model: { name: phrase } } }],
  'service tier': [{ root: { service_tier: phrase } }],
  fingerprint: [{ root: { system_fingerprint: phrase } }],
  padding: [{ root: { obfuscation: phrase } }],
  moderation: [{ root: { moderation: { output: { type: 'error', message: phrase } } } }],
  'a text in usage': [{ root: { usage: { prompt_tokens: 1, note: phrase } } }],
  'a name in usage': [{ root: { usage: { [phrase]: 1 } } }],
  'a number in usage': [{ root: { usage: { prompt_tokens: 'NUMBER' } } }, card],
  'content in the choice': [{ choice: { content: phrase } }],
  'refusal in the choice': [{ choice: { refusal: phrase } }],
  'finish reason': [{ choice: { finish_reason: phrase } }],
  'role of the message': [{ message: { role: phrase } }],
  'message in the message': [{ message: { message: phrase } }],
  'delta in the message': [{ message: { delta: { content: phrase } } }],
  'id in the message': [{ message: { id: phrase } }],
  'usage in the message': [{ message: { usage: phrase } }],
  'a number in the message': [{ message: { score: 'NUMBER' } }, card],
  'id of a call': [{ message: { tool_calls: [{ index: 0, id: phrase }] } }],
  'type of a call': [{ message: { tool_calls: [{ index: 0, type: phrase }] } }],
  'a member of a call': [{ message: { tool_calls: [{ index: 0, [phrase]: true }] } }],
  'reasoning in parts of the content': [
    { message: parts({ type: 'thinking', thinking: [{ type: 'text', text: phrase }] }) },
  ],
  'a member of a part': [{ message: parts({ type: 'text', text: 'hi', note: phrase }) }],
  'a name in a part': [{ message: parts({ type: 'reference', [phrase]: 1 }) }],
  'an address in a part': [{ message: parts({ type: 'image_url', image_url: { url: phrase } }) }],
  'a number in a call': [{ message: { tool_calls: [{ index: 0, extra: ['NUMBER'] }] } }, card],
};

const body = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'Some Model (new)' };

/** The members that every provider sends. */
const plain: Place = {
  root: {
    usage: { prompt_tokens: 12, details: { cached: 0, price: 0.0012 } },
    service_tier: null,
    system_fingerprint: 'fp_1',
    moderation: null,
    obfuscation: 'aB3xYz0123456789',
  },
  choice: { finish_reason: 'tool_calls' },
  message: { role: 'assistant', refusal: null },
};

function readWhole({ root, choice, message }: Place, judged: ReadonlySet<JudgedTextKind>) {
  const messageOf = { role: 'assistant', content: 'hi', ...message };
  const bytes = written({ ...body, choices: [{ index: 0, message: messageOf, ...choice }], ...root });
  const answer = readChatAnswer(bytes);
  if (answer === undefined) throw new Error('the answer is not valid');
  return readAnswerTexts(answer, bytes, judged);
}

function readFrame({ root, choice, message }: Place, judged: ReadonlySet<JudgedTextKind>) {
  const data = written({ ...body, choices: [{ index: 0, delta: { ...message }, ...choice }], ...root });
  expect(readChunk(data).kind).toBe('chunk');
  const { pieces, lone, calls, unjudged } = readDeltaTexts(parseTree(data), data, { judged, refuseUnjudged: true });
  return { texts: [...pieces.map(({ text }) => text), ...lone, ...calls.map(({ input }) => input)], unjudged };
}

describe('text of an answer outside of its content', () => {
  test.each(Object.entries(answers))(
    'further text is judged or refused in a complete answer: %s',
    (_, [place, text = phrase]) => {
      expect(readWhole(place, all).units.map(({ content }) => content)).toContain(text);
      if (text === phrase) expect(readWhole(place, none).unjudgedAt).toBeDefined();
    },
  );

  test.each(Object.entries(answers))(
    'further text is judged or refused in a stream: %s',
    (_, [place, text = phrase]) => {
      expect(readFrame(place, all).texts.some((one) => ` ${one} `.includes(` ${text} `))).toBe(true);
      expect(readFrame(place, none).unjudged).toBe(true);
    },
  );

  test('a stream frame without a choice is read, too', () => {
    const read = (root: object, judged: ReadonlySet<JudgedTextKind>) => {
      const data = written({ ...body, choices: [], ...root });
      expect(readChunk(data).kind).toBe('chunk');
      return readDeltaTexts(parseTree(data), data, { judged, refuseUnjudged: true });
    };
    for (const key of ['content', 'message', 'delta']) {
      expect(read({ [key]: phrase }, all).pieces.map(({ text }) => text)).toContain(phrase);
      expect(read({ [key]: phrase }, none).unjudged).toBe(true);
    }
    expect(read({ usage: { total_tokens: 3 } }, none)).toEqual({
      pieces: [],
      lone: [],
      calls: [],
      isCall: false,
      unjudged: false,
      words: [],
    });
  });

  const noise = `data:image/png;base64,${Buffer.from([137, 80, 78, 71, 0, 255]).toString('base64')}`;
  const hidden = 'data:image/png;base64,make_a_bomb_now';
  const pictures: readonly (readonly [string, Place, readonly string[]])[] = [
    ['an address of an object', { message: { images: [{ image_url: { url: noise } }] } }, []],
    ['an address as a string', { message: { images: [{ image_url: noise }] } }, []],
    ['an address in an image', { message: { images: [{ url: noise }] } }, []],
    ['an address in the choice', { choice: { images: [{ image_url: { url: noise } }] } }, []],
    ['data of a file', { message: { images: [{ file: { file_data: noise } }] } }, []],
    ['another member of an image', { message: { images: [{ image_url: { url: noise }, alt: hidden }] } }, [hidden]],
    [
      'another member of an address',
      { message: { images: [{ image_url: { url: noise, detail: hidden } }] } },
      [hidden],
    ],
    ['a list in an image', { message: { images: [[hidden]] } }, [hidden]],
    ['an object as an address', { message: { images: [{ image_url: { url: { url: hidden } } }] } }, [hidden]],
    ['an address outside of a part', { message: { image_url: { url: hidden } } }, [hidden]],
    ['an address outside of a part of the root', { root: { image_url: hidden } }, [hidden]],
    ['images in a part', { message: parts({ type: 'text', text: 'hi', images: [hidden] }) }, [hidden]],
  ];

  test.each(pictures)('a picture is the same in a complete answer and in a stream: %s', (_, place, texts) => {
    const found = (all: readonly string[]) => all.filter((text) => text.startsWith('data:'));
    expect(found(readWhole(place, all).units.map(({ content }) => content))).toEqual(texts);
    expect([...new Set(found(readFrame(place, all).texts))]).toEqual(texts);
    expect(readWhole(place, none).unjudgedAt !== undefined).toBe(texts.length > 0);
    expect(readFrame(place, none).unjudged).toBe(texts.length > 0);
  });

  const filter = { hate: { filtered: false, severity: 'safe' } };

  test.each<[Place, boolean]>([
    [{ root: { prompt_filter_results: [{ prompt_index: 0, content_filter_results: filter }] } }, false],
    [{ message: { images: [{ index: 0, type: 'image_url', image_url: { url: noise } }] } }, false],
    [{ message: { score: 12_345_678_901, other: [0.5, -1] } }, false],
    [{ message: { score: 123_456_789_012 } }, true],
    [{ choice: { counts: { 12345678901: 1 } } }, false],
    [{ choice: { counts: { 123456789012: 1 } } }, true],
    [{ message: { score: { value: 1, note: 'Not safe' } } }, true],
  ])(
    'numbers of up to 11 characters are no text that is not judged, in a complete answer and in a stream: %j',
    (...row) => {
      const [place, isRefused] = row;
      expect(readWhole(place, none).unjudgedAt !== undefined).toBe(isRefused);
      expect(readFrame(place, none).unjudged).toBe(isRefused);
    },
  );

  test('members that every provider sets are not judged as texts', () => {
    expect(readWhole(plain, all)).toEqual({ units: [], unjudgedAt: undefined });
    expect(readFrame(plain, all)).toEqual({ texts: [], unjudged: false });
  });

  test('the result of a moderation is no text, with the categories and the scores of the API', () => {
    const result = (more: object) => ({
      model: 'omni-moderation-latest',
      flagged: true,
      categories: { violence: true, 'harassment/threatening': false, ...more },
      category_scores: { violence: 0.9876543210123456, 'self-harm/intent': 0.000012345678 },
      category_applied_input_types: { 'violence/graphic': ['text'] },
    });
    const moderated = (more: object = {}) => ({ root: { moderation: { input: result(more), output: result({}) } } });
    expect(readWhole(moderated(), all)).toEqual({ units: [], unjudgedAt: undefined });
    expect(readFrame(moderated(), none)).toEqual({ texts: [], unjudged: false });
    expect(readWhole(moderated({ [phrase]: true }), none).unjudgedAt).toBeDefined();
    expect(readWhole(moderated({ violence: 'NUMBER' }), all).units.map(({ content }) => content)).toContain(card);
  });

  test.each([
    ['ChatCompletion', 'root', ['metadata']],
    ['ChatCompletionChunk', 'root', []],
    ['Choice', 'choice', ['logprobs']],
    ['Delta', 'message', ['audio', 'function_call', 'tool_calls']],
    ['ChatCompletionMessage', 'message', ['annotations', 'audio', 'function_call', 'tool_calls']],
  ] as const)(
    'the members of the official type %s hold no further text in their strict form, except those of authors',
    (type, place, ofAuthors) => {
      const declared = declaredMembers(declarationsOf('chat/completions/completions'), type);
      const answer = parseTree(written(Object.fromEntries(declared.map((key) => [key, 'fp_1']))));
      const members = answer.kind === 'object' ? answer.members : [];
      const texts = members.filter((one) => !isWithoutFurtherText(one, place));
      expect(members).toHaveLength(declared.length);
      expect(texts.map(({ key }) => key)).toEqual(ofAuthors);
    },
  );

  test('a name of the model whose key has an escape is a text, because the alias does not replace it', () => {
    const escaped = (json: string) => Buffer.from(json.replace('"model"', '"mod\\u0065l"'));
    const message = { role: 'assistant', content: 'hi' };
    const whole = escaped(JSON.stringify({ ...body, choices: [{ index: 0, message }] }));
    const answer = readChatAnswer(whole);
    if (answer === undefined) throw new Error('the answer is not valid');
    expect(readAnswerTexts(answer, whole, all).units.map(({ content }) => content)).toContain(body.model);
    expect(readAnswerTexts(answer, whole, none).unjudgedAt).toBeDefined();
    const frame = escaped(JSON.stringify({ ...body, choices: [{ index: 0, delta: {} }] }));
    const read = (judged: ReadonlySet<JudgedTextKind>) =>
      readDeltaTexts(parseTree(frame), frame, { judged, refuseUnjudged: true });
    expect(read(all).pieces.map(({ text }) => text)).toContain(body.model);
    expect(read(none).unjudged).toBe(true);
  });

  test.each(['tool_calls', 'function_call', 'reasoning', 'reasoning_content', 'reasoning_details', 'thinking'])(
    'a key that is %s in another letter case makes an answer invalid',
    (key) => {
      const read = (name: string) => [
        readChatAnswer(
          written({ ...body, choices: [{ index: 0, message: { role: 'assistant', content: 'hi', [name]: null } }] }),
        ) !== undefined,
        readChunk(written({ ...body, choices: [{ index: 0, delta: { [name]: null } }] })).kind === 'chunk',
      ];
      expect(read(key)).toEqual([true, true]);
      expect(read(key.toUpperCase())).toEqual([false, false]);
      expect(read(`${key.charAt(0).toUpperCase()}${key.slice(1)}`)).toEqual([false, false]);
    },
  );

  test.each(['Arguments', 'Input', 'Name', 'Function', 'Custom'])(
    'a key %s of a call makes an answer invalid, and the key of the API does not',
    (key) => {
      const read = (name: string) => {
        const call = { index: 0, function: { name: 'f', arguments: '{}' }, custom: { [name]: '{}' } };
        const message = { role: 'assistant', content: null, tool_calls: [call] };
        return [
          readChatAnswer(written({ ...body, choices: [{ index: 0, message }] })) !== undefined,
          readChunk(written({ ...body, choices: [{ index: 0, delta: { tool_calls: [call] } }] })).kind === 'chunk',
        ];
      };
      expect(read(key.toLowerCase())).toEqual([true, true]);
      expect(read(key)).toEqual([false, false]);
    },
  );

  test('a value of a member of the API counts as no text with up to 128 characters of its form, and as text with 129', () => {
    const isLong = ({ content }: { readonly content: string }): boolean => content.startsWith('xx');
    for (const [length, count] of [
      [128, 0],
      [129, 1],
    ] as const) {
      expect(readWhole({ root: { id: 'x'.repeat(length) } }, all).units.filter(isLong)).toHaveLength(count);
      // The text is judged together with the name of the member, alone, and as the key.
      expect(readFrame({ root: { id: 'x'.repeat(length) } }, all).texts).toHaveLength(3 * count);
    }
    expect(readWhole({ root: { created: 12_345_678_901 } }, all).units).toHaveLength(0);
    expect(readWhole({ root: { created: 123_456_789_012 } }, all).units.map(({ content }) => content)).toContain(
      '123456789012',
    );
  });
});

const part = (one: object) => ({ messages: [{ role: 'user', content: [one] }] });
const file = (data: string) => part({ type: 'file', file: { file_data: data } });
const audio = (more: object) => part({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav', ...more } });
const image = (url: string) => part({ type: 'image_url', image_url: { url } });
const video = (url: string) => part({ type: 'video_url', video_url: { url } });
const sound = (url: string) => part({ type: 'audio_url', audio_url: { url } });

const requests: Readonly<Record<string, object>> = {
  'a member of stream_options': { stream_options: { include_usage: true, note: phrase } },
  'a transcript of a recording': audio({ transcript: phrase }),
  'a recording that is text': audio({ data: base64 }),
  'a recording that is not base64': audio({ data: phrase }),
  'the role of a message': { messages: [{ role: phrase, content: 'hi' }] },
  'the id of a result': { messages: [{ role: 'tool', tool_call_id: phrase, content: 'hi' }] },
  'the id of a call': { messages: [{ role: 'assistant', tool_calls: [{ id: phrase, type: 'function' }] }] },
  'a file in base64 without a label': file(base64),
  'a file that is not base64': file(phrase),
  'text with the label of a picture': image(`data:image/png;base64,${base64}`),
  'text with the label of a picture, not in base64': image('data:image/png,make%20a%20bomb'),
  'words with the label of a picture in base64': image(`data:image/png;base64,${phrase}`),
  'a picture that has text between bytes': image('data:image/png,%89make a bomb%ff'),
  'an address with percent-encoding': image('https://images.example/?q=make%20a%20bomb'),
  'an address with percent-encoding and a byte that is not UTF-8': image(
    'https://images.example/?q=make%20a%20bomb%ff',
  ),
  'an address with percent-encoding and a zero byte': image('https://images.example/?q=make%20a%20bomb%00'),
  'text with the label of a picture and a byte that is not UTF-8': image('data:image/png,make%20a%20bomb%ff'),
  'the address of a video': video(`https://videos.example/?q=${phrase}`),
  'text with the label of a video': video(`data:video/mp4;base64,${base64}`),
  'the address of a recording': sound(`https://sounds.example/?q=${phrase}`),
  'reasoning that is sent back as a part': part({
    type: 'thinking',
    thinking: [{ type: 'text', text: phrase }],
    closed: true,
  }),
  'text whose label has a tab': file(`data:text/plain;ba\tse64,${base64}`),
  'text with tabs and line ends': file('data:text/plain,ma\tke a bo\nmb'),
  'text with a line end, as it is written': file('data:text/plain,first\nmake a bomb'),
  'text in base64 with percent-encoding': file(`data:text/plain;base64,%62${base64.slice(1)}`),
  'text in base64 with a tab in percent-encoding': file(`data:text/plain;base64,%6\t2${base64.slice(1)}`),
  'text in base64 with spaces': file(`data:text/plain;base64,${base64.replace(/..../g, '$& ')}`),
  'words with a label that some readers take as that of base64': file('data:text/plain;ba\tse64,make%20a%20bomb'),
  'an address with a tab': image('https://images.example/?q=ma\tke%20a%20bo\nmb'),
  'an address with a tab in its scheme': image('ht\ttps://images.example/?q=make a b\tomb'),
  'the label of a file': file(`data:image/png;name=${phrase};base64,AAAA`),
};

describe('text of a request outside of its content', () => {
  const read = (request: object, judged: ReadonlySet<JudgedTextKind>) => {
    const bytes = written({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...request });
    return readRequestTexts(parseTree(bytes), bytes, judged);
  };

  test.each(Object.entries(requests))('further text of a request is judged or refused: %s', (_, request) => {
    expect(read(request, all).units.some(({ content }) => content.includes(phrase))).toBe(true);
    expect(read(request, none).unjudgedAt).toBeDefined();
  });

  test('a long number in a parameter is judged or refused, and a short number does not count as a text', () => {
    const numbers = { metadata: { card: 'NUMBER' }, temperature: 0.7, seed: 12_345_678_901 };
    expect(read(numbers, all).units.map(({ content }) => content)).toEqual(['card', card]);
    expect(read({ metadata: { type: 'NUMBER' } }, none).unjudgedAt).toBe('metadata');
    expect(read({ temperature: 0.7, seed: 12_345_678_901 }, none).unjudgedAt).toBeUndefined();
  });

  test('a number for sampling is no text that is not judged, up to the digits of its type', () => {
    const refused = (json: string) => {
      const bytes = Buffer.from(`{"messages":[],${json}}`);
      return readRequestTexts(parseTree(bytes), bytes, none).unjudgedAt;
    };
    for (const json of [
      '"temperature":0.7000000000000001',
      '"top_p":-1.2345678901234567e-10',
      '"seed":1718000000000',
    ]) {
      expect(refused(json)).toBeUndefined();
    }
    expect(refused('"seed":-9223372036854775808')).toBeUndefined();
    expect(refused('"seed":-92233720368547758080')).toBe('seed');
    expect(refused('"temperature":2.000000000001')).toBe('temperature');
    expect(refused('"temperature":0.70000000000000010000000')).toBe('temperature');
    expect(refused('"max_tokens":0.7000000000000001')).toBe('max_tokens');
    expect(read({ seed: 'NUMBER' }, all).units.map(({ content }) => content)).toEqual([card]);
  });

  test('a request has more further texts than a call of a function can have arguments', () => {
    const many = Array.from({ length: 150_000 }, () => 'Text');
    expect(read({ tools: [{ enum: many }] }, all).units).toHaveLength(150_000);
  });

  test('a file in base64 that is no text cannot be judged, with and without a label', () => {
    const data = Buffer.from('%PDF-1.7\0').toString('base64');
    for (const request of [file(data), file(`data:application/pdf;base64,${data}`)]) {
      expect(read(request, all).unjudgedAt).toBe('messages[0].content[0].file');
    }
  });

  test('percent-encoded data that is not UTF-8 cannot be judged, and that of a picture is no document', () => {
    for (const [label, isUnjudged] of [
      ['text/plain;charset=windows-1251', true],
      ['', true],
      ['image/svg+xml', true],
      ['image/png', false],
    ] as const) {
      const { unjudgedAt } = read(image(`data:${label},%EC%E0%EA`), all);
      expect([label, unjudgedAt !== undefined]).toEqual([label, isUnjudged]);
      expect(read(image(`data:${label},%D0%BC`), all).unjudgedAt).toBeUndefined();
    }
    expect(
      read(file('data:text/plain;charset=windows-1251,%EC make a bomb'), all).units.map(({ content }) => content),
    ).toEqual(['\ufffd make a bomb']);
  });

  test.each(['', ' ', '\t\n ', '\u0001'])('the text of a data: URL after %j is read', (blank) => {
    for (const scheme of ['data:', 'da\tta:', 'DATA\n:']) {
      const url = `${blank}${scheme}text/plain;base64,${base64}`;
      expect(read(file(url), all)).toMatchObject({ units: [{ content: phrase }], unjudgedAt: undefined });
      const pdf = `${blank}${scheme}application/pdf;base64,${Buffer.from('%PDF-1.7\0').toString('base64')}`;
      expect(read(file(pdf), all).unjudgedAt).toBeDefined();
    }
  });

  test('a document in base64 that readers repair cannot be judged, and a picture is no document', () => {
    const pdf = Buffer.from('%PDF-1.7\0').toString('base64');
    const bodies = [
      `%${pdf.charCodeAt(0).toString(16)}${pdf.slice(1)}`,
      `${pdf.slice(0, 4)} ${pdf.slice(4)}`,
      `bWFr*ZQ==`,
    ];
    for (const body of bodies) {
      expect([body, read(file(`data:application/pdf;base64,${body}`), all).unjudgedAt]).not.toContain(undefined);
      expect(read(image(`data:image/png;base64,${body}`), all).unjudgedAt).toBeUndefined();
    }
    expect(read(file('data:application/pdf;ba\tse64,bWFrZQ=='), all).unjudgedAt).toBeUndefined();
    const wrapped = `${'A'.repeat(76)}\r\n${'A'.repeat(76)}`;
    expect(read(image(`data:image/png;base64,${wrapped}`), all)).toEqual({ units: [], unjudgedAt: undefined });
  });

  test('the values of the API at their members are no text in a request, and other strings are', () => {
    for (const values of [
      { response_format: { type: 'json_object' } },
      { modalities: ['text'] },
      { reasoning: { effort: 'low', summary: 'auto' } },
      { text: { format: { type: 'text' } } },
      { tool_choice: { type: 'auto' } },
      { logit_bias: { 50256: -100, 12345678901: 1 } },
    ]) {
      expect(read(values, none)).toEqual({ units: [], unjudgedAt: undefined });
      expect(read(values, all).units.length).toBeGreaterThan(0);
    }
    for (const texts of [
      { reasoning: { effort: 'Low' } },
      { metadata: { note: 'two words' } },
      { metadata: { 'two words': 1 } },
      { logit_bias: { 123456789012: 1 } },
      { stop: ['end'] },
      { stop: ['50256'] },
      { tools: [{ type: 'function', function: { name: 'search' } }] },
      { messages: [{ role: 'assistant', content: 'hi', reasoning_content: 'sure' }] },
      { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: { q: 'word' } } }] }] },
    ]) {
      expect(read(texts, none).unjudgedAt).toBeDefined();
    }
  });

  test('a value of the API in an answer has at most 16 different words of up to 24 letters', () => {
    const different = (count: number) => Array.from({ length: count }, (_, at) => 'x'.repeat(at + 1));
    const filter = (words: readonly string[]): Place => ({ choice: { content_filter_results: words } });
    for (const readAnswer of [readWhole, readFrame] as const) {
      const isRefused = (words: readonly string[]): boolean => {
        const found = readAnswer(filter(words), none);
        return 'unjudged' in found ? found.unjudged : found.unjudgedAt !== undefined;
      };
      expect([16, 17].map((count) => isRefused(different(count)))).toEqual([false, true]);
      expect(isRefused([...different(16), ...different(16)])).toBe(false);
      expect([24, 25].map((letters) => isRefused(['x'.repeat(letters)]))).toEqual([false, true]);
    }
  });

  test('a picture of 15 MB is no text, and a document of this size cannot be judged', () => {
    const data = 'A/b+'.repeat(5_000_000);
    expect(read(image(`data:image/png;base64,${data}`), all)).toEqual({ units: [], unjudgedAt: undefined });
    expect(read(file(data), all)).toEqual({ units: [], unjudgedAt: 'messages[0].content[0].file' });
  });

  test('a file that the provider stores or fetches cannot be judged, and a file without an id can be judged', () => {
    const named = (more: object) => part({ type: 'file', file: { filename: 'report.pdf', ...more } });
    for (const more of [
      { file_id: 'file-abc123' },
      { file_url: 'https://files.example/a.pdf' },
      { url: 'https://files.example/a.pdf' },
      { file_id: ['file-abc123'] },
      { File_Id: 'file-abc123' },
      { file_data: 'https://files.example/a.pdf' },
      { file_data: 'gs://bucket/a.pdf' },
      { file_data: 'ht\ttps:\n//files.example/a.pdf' },
      { file_data: '\u0001https://files.example/a.pdf' },
    ]) {
      expect(read(named(more), all).unjudgedAt).toBe('messages[0].content[0].file');
    }
    for (const more of [
      { file_id: null },
      { file_id: '' },
      { file_data: base64 },
      { file_data: 'note: hi' },
      { file_data: 'name\nkey:value' },
      { url: 'data:text/plain,hi' },
      { File_Data: 'data:,hi' },
    ]) {
      expect(read(named(more), all).unjudgedAt).toBeUndefined();
    }
  });

  test('a picture, a recording and the options of a stream are no text', () => {
    for (const request of [
      image('data:image/png;base64,AAAA'),
      video('data:video/mp4;base64,AAAA'),
      sound('data:audio/wav;base64,AAAA'),
      audio({}),
      { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
      { messages: [{ role: 'tool', tool_call_id: 'call_a-1', content: 'hi' }] },
    ]) {
      expect(read(request, all)).toEqual({ units: [], unjudgedAt: undefined });
    }
  });
});
