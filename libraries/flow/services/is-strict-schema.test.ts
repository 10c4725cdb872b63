import { describe, expect, test } from 'vitest';
import type { JsonValue } from '#kit/json/json-value';
import { isStrictSchema } from './is-strict-schema.ts';

const text = { type: 'string' };
const closed = (properties: { [name: string]: JsonValue }, more: { [name: string]: JsonValue } = {}): JsonValue => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  ...more,
});

describe('the strict mode of models', () => {
  test.each<[string, JsonValue]>([
    ['a closed object', closed({ a: text, b: { type: ['string', 'null'], description: 'x', enum: ['y', null] } })],
    ['an object without members', closed({})],
    ['nested objects and lists', closed({ list: { type: 'array', items: closed({ a: text }) } })],
    ['alternatives', closed({ one: { anyOf: [text, closed({ a: text })] } })],
    ['references', closed({ one: { $ref: '#/$defs/one' } }, { $defs: { one: closed({ a: text }) } })],
    ['a member that has the name of a keyword', closed({ minLength: text })],
  ])('strict mode is used for %s', (_, schema) => {
    expect(isStrictSchema(schema)).toBe(true);
  });

  test.each<[string, JsonValue]>([
    ['an open object', closed({ a: text }, { additionalProperties: true })],
    ['an object that says nothing about further members', { type: 'object', properties: { a: text }, required: ['a'] }],
    ['an optional member', closed({ a: text, b: text }, { required: ['a'] })],
    ['an open object in a list', closed({ list: { type: 'array', items: { type: 'object' } } })],
    ['an open object in an alternative', closed({ one: { anyOf: [text, { type: 'object' }] } })],
    [
      'an open object in a definition',
      closed({ one: { $ref: '#/$defs/one' } }, { $defs: { one: { type: 'object' } } }),
    ],
    ['an open object that may be null', closed({ one: { type: ['object', 'null'] } })],
    ['a bound', closed({ a: { type: 'string', minLength: 1 } })],
    ['a default', closed({ a: { type: 'string', default: 'x' } })],
    ['allOf', closed({ a: { allOf: [text] } })],
    ['a member without a type', closed({ a: {} })],
    ['a member of any value', closed({ a: true })],
    ['a list without items', closed({ a: { type: 'array' } })],
    ['a text as the answer', text],
    ['an object with alternatives as the answer', closed({ a: text }, { anyOf: [closed({ a: text })] })],
    ['an alternative as the answer', { anyOf: [closed({ a: text })] }],
  ])('strict mode is not used for %s', (_, schema) => {
    expect(isStrictSchema(schema)).toBe(false);
  });
});
