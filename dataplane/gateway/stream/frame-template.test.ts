import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renamerTo } from '../chat/rename-answer.ts';
import { FrameTemplate } from './frame-template.ts';
import { readChunk } from './read-chunk.ts';
import { writeFrame } from './write-frame.ts';

const rename = renamerTo('alias of the binding');

/** A frame as a provider writes it; `text` is a JSON string as written. */
function frame(text: string, rest = ''): Buffer {
  const choice = `{"index":0,"delta":{"content":${text}},"finish_reason":null}`;
  return Buffer.from(`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[${choice}]${rest}}`);
}

function taught(...frames: readonly Buffer[]): FrameTemplate {
  const template = new FrameTemplate();
  for (const data of frames) template.learn(data, writeFrame(rename(data)));
  return template;
}

test('reading a frame of a known form yields the same text and the same sent bytes as parsing it completely', () => {
  const template = taught(frame('"a"'));
  for (const text of [
    '"b"',
    '" two words"',
    '"\\n\\u0041\\\\"',
    '"я漢😀"',
    '"\\ud83d"',
    '"\\"quoted\\""',
    '"{}[],:"',
  ]) {
    const data = frame(text);
    const known = template.match(data);
    expect(known?.text).toBe(JSON.parse(text));
    expect(Buffer.from(known?.sent ?? '', 'latin1')).toEqual(writeFrame(rename(data)));
  }
});

test('padding after the text may differ, and the model may be named before, between and after them', () => {
  const padded = (text: string, padding: string, order: number): Buffer => {
    const parts = [`"choices":[{"index":0,"delta":{"content":"${text}"}}]`, `"obfuscation":"${padding}"`];
    return Buffer.from(`{${parts.toSpliced(order, 0, '"model":"m"').join()}}`);
  };
  for (const order of [0, 1, 2]) {
    const data = padded('longer', 'xyz', order);
    const known = taught(padded('a', 'bc', order)).match(data);
    expect(known?.text).toBe('longer');
    expect(Buffer.from(known?.sent ?? '', 'latin1')).toEqual(writeFrame(rename(data)));
  }
});

test.each([
  ['another member', frame('"b"', ',"usage":null')],
  ['a member cut off', frame('"b"').subarray(0, -1)],
  ['a member inside of the text', frame('"b"},"delta":{"content":"c"')],
  ['no text', frame('""')],
  ['a number as text', frame('1')],
  ['null as text', frame('null')],
  ['a text with an invalid escape', frame('"\\x"')],
  ['a text with a line feed', frame('"a\nb"')],
  ['a text that is no UTF-8', Buffer.from(frame('"?"').map((byte) => (byte === 0x3f ? 0xff : byte)))],
  ['a replacement character, which the reader of whole frames tells from invalid bytes', frame('"\u{fffd}"')],
])('a frame with %s does not have the known form', (_, data) => {
  expect(taught(frame('"a"')).match(data)).toBeUndefined();
});

test('a frame without delta.content or in several lines teaches no form', () => {
  for (const data of [
    Buffer.from('{"choices":[]}'),
    Buffer.from('{"content":"a"}'),
    frame('"a"', '\n'),
    Buffer.from('"content"'),
  ]) {
    expect(taught(data).match(data)).toBeUndefined();
  }
});

test('a changed frame is unknown, or parsing it completely yields the same text and no other text', () => {
  const template = taught(frame('"a"', ',"obfuscation":"pad"'));
  const change = fc.record({ at: fc.nat(200), cut: fc.nat(3), bytes: fc.uint8Array({ maxLength: 3 }) });
  const character = fc.constantFrom(...'ab",:{}[]\\un0041 я😀\u{fffd}\n'.split(''));
  const text = fc.array(character, { maxLength: 8 }).map((letters) => letters.join(''));
  let known = 0;
  fc.assert(
    fc.property(text, text, fc.array(change, { maxLength: 1 }), (content, padding, changes) => {
      let data = frame(`"${content}"`, `,"obfuscation":"${padding}"`);
      for (const { at, cut, bytes } of changes) {
        data = Buffer.concat([data.subarray(0, at), bytes, data.subarray(at + cut)]);
      }
      const match = template.match(data);
      if (match === undefined) return;
      known += 1;
      expect(readChunk(data)).toMatchObject({ kind: 'chunk', content: match.text, refusal: '' });
      expect(Buffer.from(match.sent, 'latin1')).toEqual(writeFrame(rename(data)));
    }),
    { numRuns: 5_000 },
  );
  expect(known).toBeGreaterThan(100);
});
