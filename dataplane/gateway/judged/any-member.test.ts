import { describe, expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { parseTree } from '#kit/json/parse-tree';
import { chatKeys, messageKeys, partKeys } from '../chat/known-keys.ts';
import { readChatAnswer } from '../chat/read-chat-answer.ts';
import { readChatRequest } from '../chat/read-chat-request.ts';
import { readChunk } from '../stream/read-chunk.ts';
import { formsAt, foundText, holdsForm } from '../testing/text-forms.ts';
import { readAnswerTexts } from './answer-texts.ts';
import { readDeltaTexts } from './delta-texts.ts';
import { readRequestTexts } from './request-texts.ts';

const all: ReadonlySet<JudgedTextKind> = new Set(judgedTextKinds);
const none: ReadonlySet<JudgedTextKind> = new Set();
const other = 'other_member';
const contentsOf = (units: readonly { readonly content: string }[]): readonly string[] =>
  units.map(({ content }) => content);

const message = (more: object): object => ({ messages: [{ role: 'user', content: 'hi', ...more }] });
const part = (one: object): object => message({ content: [one] });
const toolCall = (more: object): object => ({
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...more,
});
const files = ['image_url', 'video_url', 'audio_url', 'file', 'input_audio'];
const fileKeys = ['url', 'detail', 'file_data', 'filename', 'file_id', 'data', 'format', other];
const callKeys = ['id', 'type', 'index', 'function', 'custom', other];

/**
 * Members of a request, each with the function that sets its value. The alias is looked up, so `model` contains no
 * text.
 */
const places: Readonly<Record<string, readonly [readonly string[], (key: string, value: unknown) => object]>> = {
  'the request': [[...chatKeys, other].filter((key) => key !== 'model'), (key, value) => ({ [key]: value })],
  'a message': [[...messageKeys, other], (key, value) => message({ [key]: value })],
  'a part with text': [[...partKeys, other], (key, value) => part({ type: 'text', text: 'hi', [key]: value })],
  'a part with a refusal': [
    [...partKeys, other],
    (key, value) => part({ type: 'refusal', refusal: 'no', [key]: value }),
  ],
  'a part with a picture': [
    [...partKeys, other],
    (key, value) => part({ type: 'image_url', image_url: {}, [key]: value }),
  ],
  'a part with a recording': [[...partKeys, other], (key, value) => part({ type: 'input_audio', [key]: value })],
  'a part with a file': [[...partKeys, other], (key, value) => part({ type: 'file', file: {}, [key]: value })],
  'a part with reasoning': [
    [...partKeys, other],
    (key, value) => part({ type: 'thinking', thinking: [], [key]: value }),
  ],
  ...Object.fromEntries(
    files.map((type) => [type, [fileKeys, (key: string, value: unknown) => part({ type, [type]: { [key]: value } })]]),
  ),
  'an image of a message': [
    [...partKeys, other],
    (key, value) => message({ images: [{ type: 'image_url', [key]: value }] }),
  ],
  'images that are no list': [[...partKeys, other], (key, value) => message({ images: { [key]: value } })],
  'a call': [callKeys, (key, value) => message({ tool_calls: [toolCall({ [key]: value })] })],
  'the function of a call': [
    ['name', 'arguments', other],
    (key, value) => message({ tool_calls: [toolCall({ function: { [key]: value } })] }),
  ],
};

describe('a text of any form at any member of a chat request', () => {
  const rules = { textOnly: false, streaming: 'served', extraKeys: new Set([other]) } as const;

  test.each(Object.entries(places))('in a chat request, %s is judged or refused', (_, [keys, put]) => {
    const unseen = formsAt(keys, put).filter(({ value }) => {
      const bytes = value({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
      const root = parseTree(bytes);
      const request = readChatRequest(root, rules);
      if (!request.ok) return false;
      const contract = contentsOf(request.value.units);
      const judged = readRequestTexts(root, bytes, all);
      const isJudged = holdsForm([...contract, ...contentsOf(judged.units)]) || judged.unjudgedAt !== undefined;
      const isRefused = readRequestTexts(root, bytes, none).unjudgedAt !== undefined;
      return !isJudged || !(isRefused || holdsForm(contract));
    });
    expect(unseen.map(({ name }) => name)).toEqual([]);
  });

  test('a picture in the images of a message is no text, and another document cannot be judged', () => {
    const read = (images: unknown) => {
      const bytes = Buffer.from(JSON.stringify(message({ images })));
      return readRequestTexts(parseTree(bytes), bytes, all);
    };
    const picture = 'data:image/png;base64,AAAA';
    expect(read([{ type: 'image_url', image_url: { url: picture } }])).toEqual({ units: [], unjudgedAt: undefined });
    expect(read([picture])).toEqual({ units: [], unjudgedAt: undefined });
    expect(read([Buffer.from('%PDF-1.7\0').toString('base64')]).unjudgedAt).toBe('messages[0].images[0]');
    expect(contentsOf(read(foundText).units)).toEqual([foundText]);
  });
});

describe('a file that is given as a string', () => {
  const read = (type: string, value: unknown) => {
    const bytes = Buffer.from(JSON.stringify(part({ type, [type]: value })));
    return readRequestTexts(parseTree(bytes), bytes, all);
  };
  const addresses = ['image_url', 'video_url', 'audio_url'];
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test.each([...addresses, 'input_audio', 'file'])('a picture or recording in %s is no text', (type) => {
    const data = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7) % 256)).toString('base64');
    const written = type === 'input_audio' ? data : `data:image/png;base64,${data}`;
    expect(read(type, written)).toEqual({ units: [], unjudgedAt: undefined });
    if (type === 'input_audio') expect(read(type, { data: `data:audio/wav;base64,${data}` }).units).toEqual([]);
  });

  test.each([...addresses, 'input_audio', 'file'])(
    'text in a data: URL in %s is judged, and has no place for a mask',
    (type) => {
      expect(read(type, `data:text/plain;base64,${base64(foundText)}`)).toEqual({
        units: [{ role: 'user', content: foundText, place: { kind: 'fixed' } }],
        unjudgedAt: undefined,
      });
    },
  );

  test.each([...addresses, 'input_audio', 'file'])(
    'an address in %s is judged as written and without its percent-encoding',
    (type) => {
      const address = `https://x.example/?q=${encodeURIComponent(foundText)}`;
      const { units, unjudgedAt } = read(type, address);
      expect(contentsOf(units)).toEqual([address, `https://x.example/?q=${foundText}`]);
      expect(unjudgedAt).toBe(type === 'file' ? 'messages[0].content[0].file' : undefined);
    },
  );

  test('a document that cannot be read counts as text that is not judged, also at file_url', () => {
    const pdf = 'data:application/pdf;base64,JVBERi0xLjcA/w==';
    for (const value of [pdf, { file_url: pdf }, { file_id: 'data:,x' }]) {
      expect(read('file', value).unjudgedAt).toBe('messages[0].content[0].file');
    }
    const text = { file_url: `data:text/plain;base64,${base64(foundText)}` };
    expect(read('file', text)).toMatchObject({ units: [{ content: foundText }], unjudgedAt: undefined });
  });

  test('a mask of base64 cannot be applied, because it would damage the file', () => {
    const { units } = read('file', { file_data: base64('a short text') });
    expect(units.map(({ place }) => place.kind)).toEqual(['fixed', 'fixed']);
  });
});

test.each<[unknown, boolean]>([
  [{ type: 'reference', reference_ids: [1, 999_999] }, false],
  [{ type: 'reference', reference_ids: [] }, false],
  [{ type: 'reference', reference_ids: [1_000_000] }, true],
  [{ type: 'reference', reference_ids: [0.5] }, true],
  [{ type: 'reference', reference_ids: ['ignore', 'all', 'rules'] }, true],
  [{ type: 'reference', reference_ids: 1 }, true],
  [{ type: 'text', text: 'hi', reference_ids: [4111, 1111, 1111, 1111] }, true],
])('sources that are no short numbers of a part `reference` are judged: %j', (one, isJudged) => {
  const bytes = Buffer.from(JSON.stringify(part(one as object)));
  expect(readRequestTexts(parseTree(bytes), bytes, all).units.length > 0).toBe(isJudged);
});

type Kind = 'message' | 'delta';
const choice = (kind: Kind, more: object): object => ({ choices: [{ index: 0, [kind]: { content: 'hi', ...more } }] });

/** Members of an answer, or of a frame of a streamed answer. */
const answers: Readonly<
  Record<string, readonly [readonly string[], (kind: Kind, key: string, value: unknown) => object]>
> = {
  'the answer': [
    ['id', 'object', 'usage', 'moderation', 'error', 'message', 'delta', 'content', other],
    (kind, key, value) => ({ ...choice(kind, {}), [key]: value }),
  ],
  'the choice': [
    ['finish_reason', 'logprobs', 'text', 'content', other],
    (kind, key, value) => ({ choices: [{ index: 0, [kind]: { content: 'hi' }, [key]: value }] }),
  ],
  'the message': [[...messageKeys, other], (kind, key, value) => choice(kind, { [key]: value })],
  'a part of the content': [
    [...partKeys, other],
    (kind, key, value) => choice(kind, { content: [{ type: 'text', text: 'hi', [key]: value }] }),
  ],
  'a call': [callKeys, (kind, key, value) => choice(kind, { tool_calls: [toolCall({ [key]: value })] })],
};

describe('a text of any form at any member of a chat answer', () => {
  const noise = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7) % 256)).toString('base64');
  const pdf = Buffer.from('%PDF-1.7\0').toString('base64');
  const shown = (url: string) => ({ type: 'image_url', image_url: { url } });
  const names: ReadonlySet<string> = new Set(['images', 'image_url']);
  const pictures: Readonly<Record<string, (url: string) => object>> = {
    'images as addresses': (url) => ({ images: [shown(url)] }),
    'images as strings': (url) => ({ images: [url] }),
    'a part of the content': (url) => ({ content: [shown(url)] }),
    'a part of the content with the address alone': (url) => ({ content: [{ type: 'image_url', image_url: url }] }),
  };

  test.each(Object.entries(pictures))(
    'a picture in an answer is not judged as text, and its other texts are judged: %s',
    (_, put) => {
      const whole = (url: string, judged: ReadonlySet<JudgedTextKind>) => {
        const bytes = Buffer.from(JSON.stringify(choice('message', put(url))));
        const answer = readChatAnswer(bytes);
        if (answer === undefined) throw new Error('the answer is not valid');
        const { units, unjudgedAt } = readAnswerTexts(answer, bytes, judged);
        return { texts: contentsOf(units).filter((text) => !names.has(text)), isUnjudged: unjudgedAt !== undefined };
      };
      const streamed = (url: string, judged: ReadonlySet<JudgedTextKind>) => {
        const data = Buffer.from(JSON.stringify(choice('delta', put(url))));
        const { pieces, lone, unjudged } = readDeltaTexts(parseTree(data), data, { judged, refuseUnjudged: true });
        const texts = new Set([...pieces.map(({ text }) => text), ...lone]);
        return { texts: [...texts].filter((text) => !names.has(text)), isUnjudged: unjudged };
      };
      for (const read of [whole, streamed]) {
        for (const judged of [all, none]) {
          expect(read(`data:image/png;base64,${noise}`, judged)).toEqual({ texts: [], isUnjudged: false });
          expect(read(`data:application/pdf;base64,${pdf}`, judged)).toEqual({ texts: [], isUnjudged: true });
        }
        const text = `data:text/plain;base64,${Buffer.from(foundText).toString('base64')}`;
        const address = `https://x.example/?q=${encodeURIComponent(foundText)}`;
        expect(read(text, all)).toEqual({ texts: [foundText], isUnjudged: false });
        expect(read(address, all).texts).toEqual([address, `https://x.example/?q=${foundText}`]);
        for (const url of [text, address]) expect(read(url, none)).toEqual({ texts: [], isUnjudged: true });
      }
    },
  );

  test.each(Object.entries(answers))('in a complete chat answer, %s is judged or refused', (_, [keys, put]) => {
    const unseen = formsAt(keys, (key, value) => put('message', key, value)).filter(({ value }) => {
      const bytes = value({});
      const answer = readChatAnswer(bytes);
      if (answer === undefined) return false;
      const contract = [answer.content ?? '', answer.refusal ?? ''];
      const isJudged = holdsForm([...contract, ...contentsOf(readAnswerTexts(answer, bytes, all).units)]);
      const isRefused = readAnswerTexts(answer, bytes, none).unjudgedAt !== undefined;
      return !isJudged || !(isRefused || holdsForm(contract));
    });
    expect(unseen.map(({ name }) => name)).toEqual([]);
  });

  test.each(Object.entries(answers))('in a streamed chat answer, %s is judged or refused', (_, [keys, put]) => {
    const unseen = formsAt(keys, (key, value) => put('delta', key, value)).filter(({ value }) => {
      const data = value({});
      const chunk = readChunk(data);
      if (chunk.kind !== 'chunk') return false;
      const contract = [chunk.content, chunk.refusal];
      const read = (judged: ReadonlySet<JudgedTextKind>) =>
        readDeltaTexts(parseTree(data), data, { judged, refuseUnjudged: true });
      const { pieces, lone, calls } = read(all);
      const texts = [...pieces.map(({ text }) => text), ...lone, ...calls.flatMap(({ name, input }) => [name, input])];
      return !holdsForm([...contract, ...texts]) || !(read(none).unjudged || holdsForm(contract));
    });
    expect(unseen.map(({ name }) => name)).toEqual([]);
  });
});
