import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renamerTo } from './rename-answer.ts';

const rename = (text: string, path?: readonly string[]): string =>
  renamerTo('alias "1"', path)(Buffer.from(text)).toString('utf8');

describe('the name of the model in an answer', () => {
  test.each([
    ['{"model":"m"}', '{"model":"alias \\"1\\""}'],
    [
      '{ "id" : "model", "x":{"model":"n"},\n"model" :\t"a\\"b\\\\" , "y":[1]}',
      '{ "id" : "model", "x":{"model":"n"},\n"model" :\t"alias \\"1\\"" , "y":[1]}',
    ],
    [
      '{"choices":[{"message":{"content":"\\"model\\":\\"x\\"} {"}}],"model":"m"}',
      '{"choices":[{"message":{"content":"\\"model\\":\\"x\\"} {"}}],"model":"alias \\"1\\""}',
    ],
  ])('only the model name at the root of the answer is replaced: %s', (text, expected) => {
    expect(rename(text)).toBe(expected);
  });

  test.each([
    '{}',
    '[]',
    '"model"',
    '{"model":null}',
    '{"model":{"model":"m"}}',
    '{"x":{"model":"m"}}',
    '{"model":"m',
    '{"model"',
    '',
  ])('%s has no model name to replace and keeps its bytes', (text) => {
    expect(rename(text)).toBe(text);
  });

  test('a path leads into a member of the root', () => {
    const text = '{"type":"x","response":{"output":[],"model":"m"},"model":"n"}';
    expect(rename(text, ['response', 'model'])).toBe(text.replace('"m"', '"alias \\"1\\""'));
    expect(rename('{"response":"model"}', ['response', 'model'])).toBe('{"response":"model"}');
  });

  test('in every JSON object the model name that a reader finds is the alias, and all other members stay', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue()).filter((value) => !Object.hasOwn(value, '__proto__'));
    fc.assert(
      fc.property(object, fc.string(), fc.nat(4), (members, model, space) => {
        const value = { ...members, model };
        const text = JSON.stringify(value, undefined, space);
        expect(JSON.parse(rename(text))).toEqual(JSON.parse(JSON.stringify({ ...value, model: 'alias "1"' })));
      }),
    );
  });

  test('every prefix of an answer is rewritten to bytes without an error', () => {
    const text = '{"a":[{"b":"\\\\"}],"model":"m\\u0041","c":1}';
    for (let length = 0; length < text.length; length += 1) {
      const cut = text.slice(0, length);
      expect(JSON.stringify(rename(cut)).length).toBeGreaterThan(0);
      expect(rename(cut).replace('"alias \\"1\\""', '"m\\u0041"')).toBe(cut);
    }
  });
});
