import { expect, test } from 'vitest';
import type { JsonValue } from '#kit/json/json-value';
import { wireSlots } from './wire-slots.ts';

function textsOf(message: JsonValue): readonly string[] {
  const slots = wireSlots({ message }, 'message');
  return slots === 'opaque' ? [slots] : slots.map(({ text }) => text);
}

test('the texts of a message are its text parts and what lies around the places where they are joined', () => {
  expect(textsOf({ parts: [{ text: 'one' }] })).toEqual(['one']);
  expect(textsOf({ parts: [{ text: 'one' }, { data: { a: 2 } }, { text: 'two' }] })).toEqual([
    ...['one', 'a', '2', 'two'],
    ...['onetwo', 'one\ntwo'],
  ]);
});

test('a mask of a joined text needs no replacement once one of its parts was masked', () => {
  const message = { parts: [{ text: 'one' }, { text: 'two' }] };
  const slots = wireSlots({ message }, 'message');
  if (slots === 'opaque') throw new Error('the message has no opaque content');
  const [first, , joined] = slots;
  expect([joined?.replace, joined?.isMasked?.()]).toEqual([undefined, false]);
  first?.replace?.('***');
  expect(message.parts[0]).toEqual({ text: '***' });
  expect(joined?.isMasked?.()).toBe(true);
});

test('a message with as many texts as its bytes can hold is read', () => {
  const data = Array.from({ length: 300_000 }, () => 'a');
  expect(textsOf({ parts: [{ data }] })).toHaveLength(data.length);
});
