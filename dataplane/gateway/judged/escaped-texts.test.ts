import { describe, expect, test } from 'vitest';
import type { CheckUnit } from '../chat/check-unit.ts';
import { escapedResults, escapedTexts } from './escaped-texts.ts';

const unit = (content: string, role = 'tool'): CheckUnit => ({
  role,
  content,
  place: { kind: 'string', string: { start: 0, end: JSON.stringify(content).length } },
});
const textsOf = (content: string) => escapedTexts(unit(content)).map((one) => one.content);

describe('strings inside of a text that is JSON', () => {
  test.each([
    ['{"note":"\\u0062omb"}', ['bomb']],
    ['["card:\\n4111", "plain"]', ['card:\n4111']],
    ['{"a":"{\\"b\\":\\"x\\\\ny\\",\\"c\\":\\"plain\\"}"}', ['{"b":"x\\ny","c":"plain"}', 'x\ny']],
    ['{"\\u0062omb":"a\\tb","key":1}', ['bomb', 'a\tb']],
    ['{"q":1,"q":"\\u0062omb"}', ['{"q":1,"q":"bomb"}']],
    ['{"note":"bomb"}', []],
    ['"\\u0062omb"', ['bomb']],
    [
      '{"t":"{\\"q\\":\\"\\\\u0062omb\\"}","a":1,"a":2}',
      ['{"t":"{"q":"\\u0062omb"}","a":1,"a":2}', '{"t":"{"q":"bomb"}","a":1,"a":2}'],
    ],
    ['"said', []],
    ['{"note":"\\u0062omb"', []],
    ['[a note] in C:\\new', []],
  ])('a text %j is also judged as %j', (content, expected) => {
    expect(textsOf(content)).toEqual(expected);
  });

  test('values of all results of a request together are bounded, and the rest is judged as text that is not JSON', () => {
    const numbers = unit(`["\\n",${'1,'.repeat(99_997)}1]`);
    const last = (content: string) => escapedResults([numbers, numbers, unit(content)]).slice(2);
    expect(last('[]\\')).toEqual([]);
    expect(last('["\\u0062"]').map(({ content, place }) => [content, place.kind])).toEqual([['["b"]', 'fixed']]);
    const few = escapedResults([numbers, unit('["\\u0062"]')]);
    expect(few.map(({ content, place }) => [content, place.kind])).toEqual([
      ['\n', 'nested'],
      ['b', 'nested'],
    ]);
  });

  test('in a request only results of tools are read as JSON', () => {
    const content = '{"note":"\\u0062omb"}';
    expect(escapedResults([unit(content, 'user'), unit(content, 'assistant')])).toEqual([]);
    expect(escapedResults([unit(content, 'tool'), unit(content, 'function')])).toHaveLength(2);
  });
});
