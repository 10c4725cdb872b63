import { expect, test } from 'vitest';
import type { LongTexts } from '#checks/guard/guard-target';
import type { JsonValue } from '#kit/json/json-value';
import { wireSlots } from './wire-slots.ts';

function textsOf(message: JsonValue, longTexts: LongTexts = 'pieces'): readonly string[] {
  const slots = wireSlots({ message }, 'message', longTexts);
  return typeof slots === 'string' ? [slots] : slots.map(({ text }) => text);
}

test('the texts of a message are its text parts and the same parts joined', () => {
  expect(textsOf({ parts: [{ text: 'one' }] })).toEqual(['one']);
  expect(textsOf({ parts: [{ text: 'one' }, { data: { a: 2 } }, { text: 'two' }] })).toEqual([
    ...['one', 'a', '2', 'two'],
    ...['onetwo', 'one\ntwo'],
  ]);
});

test('long text parts are judged joined as a whole, or only around their joints if the policy judges in windows', () => {
  const [first, second] = ['one '.repeat(500), 'two '.repeat(500)];
  const message = { parts: [{ text: first }, { text: second }] };
  for (const longTexts of ['pieces', 'refused'] as const) {
    expect(textsOf(message, longTexts)).toEqual([first, second, `${first}${second}`, `${first}\n${second}`]);
  }
  const [, , direct, broken] = textsOf(message, 'windows');
  expect([direct, broken]).toEqual([`${first.slice(-256)}${second.slice(0, 259)}`, expect.stringContaining(' \ntwo ')]);
});

test('a mask of a joined text is accepted only if it equals the joined masks of its parts', () => {
  const message = { parts: [{ text: 'ann' }, { text: 'one' }, { text: 'two' }] };
  const slots = wireSlots({ message }, 'message', 'pieces');
  if (typeof slots === 'string') throw new Error('the message has no opaque content');
  const [first, , , joined] = slots;
  expect([joined?.text, joined?.replace, joined?.accepts?.('***onetwo')]).toEqual(['annonetwo', undefined, false]);
  first?.replace?.('***');
  expect(message.parts[0]).toEqual({ text: '***' });
  expect([joined?.accepts?.('***onetwo'), joined?.accepts?.('***o***')]).toEqual([true, false]);
});

test('the blocks of a result are joined by line breaks only, because each can be a value of its own', () => {
  expect(
    textsOf({
      result: {
        content: [
          { type: 'text', text: '1001' },
          { type: 'text', text: '1002' },
        ],
      },
    }),
  ).toEqual([...['1001', '1002', '1001\n1002']]);
});

test('a result with an image or a sound cannot be judged', () => {
  for (const type of ['image', 'audio'])
    expect(textsOf({ result: { content: [{ type, data: 'AAAA', mimeType: 'image/png' }] } })).toEqual(['opaque']);
});

test('a detail of an error without a string as its type is judged whole, and its names are free', () => {
  const detail = { task_id: 5, Parts: [{ url: 'a' }] };
  const typed = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'FAILED' };
  const texts = ['task_id', '5', 'Parts', 'url', 'a'];
  expect(textsOf({ error: { code: 500, details: [typed, detail] } })).toEqual(texts);
  expect(textsOf({ error: { details: [{ ...detail, '@type': 5 }] } })).toEqual([...texts, '@type', '5']);
  for (const message of [
    { error: { details: [{ ...detail, ...typed }] } },
    { error: { details: detail } },
    { status: { details: [detail] } },
    { error: { status: [detail] } },
  ]) {
    expect(textsOf(message)).toEqual(['respelled']);
  }
});

test('a message with as many texts as its bytes allow is read', () => {
  const data = Array.from({ length: 300_000 }, () => 'a');
  expect(textsOf({ parts: [{ data }] })).toHaveLength(data.length);
});
