import { describe, expect, test } from 'vitest';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maskEdits, rewriteBody } from '../chat/rewrite-body.ts';
import { escapedResults, escapedTexts, settleMasks } from './escaped-texts.ts';

const unit = (content: string, role = 'tool'): CheckUnit => ({
  role,
  content,
  place: { kind: 'string', string: { start: 0, end: JSON.stringify(content).length } },
});
const textsOf = (content: string) => escapedTexts(unit(content)).map((one) => one.content);

describe('strings inside of a text that is JSON', () => {
  test.each([
    ['{"note":"\\u0062omb"}', ['bomb']],
    ['["card:\\n4111", "plain"]', ['card:\n4111', 'plain']],
    ['{"\\u0062omb":"a\\tb","key":1}', ['bomb', 'a\tb']],
    ['{"q":1,"q":"\\u0062omb"}', ['{"q":1,"q":"bomb"}']],
    ['{"note":"bomb"}', []],
    ['"\\u0062omb"', []],
    ['{"note":"\\u0062omb"', []],
    ['[a note] in C:\\new', []],
  ])('a text %j is also judged as %j', (content, expected) => {
    expect(textsOf(content)).toEqual(expected);
  });

  test('only results of tools are read in a request', () => {
    const content = '{"note":"\\u0062omb"}';
    expect(escapedResults([unit(content, 'user'), unit(content, 'assistant')])).toEqual([]);
    expect(escapedResults([unit(content, 'tool'), unit(content, 'function')])).toHaveLength(2);
  });
});

describe('masks of a text and of the strings inside of it', () => {
  const content = '{"mail":"to:\\na@b.example","other":"a@b.example"}';
  const units = [unit(content), ...escapedTexts(unit(content))];

  test('where both are masked, the masks of the strings are kept and the result has to pass once more', () => {
    const masked = ['{"mail":"to:\\[personal data]","other":"[personal data]"}', 'to:\n[x]', '[x]'];
    const { contents, again } = settleMasks(units, masked);
    const settled = '{"mail":"to:\\n[x]","other":"[x]"}';
    expect(contents).toEqual([settled, 'to:\na@b.example', 'a@b.example']);
    expect(again.map((one) => one.content)).toEqual([settled]);
    const edits = maskEdits(units, contents);
    if (edits.kind !== 'edits') throw new Error(edits.kind);
    expect(JSON.parse(Buffer.from(rewriteBody(Buffer.from(JSON.stringify(content)), edits.edits)).toString())).toBe(
      settled,
    );
  });

  test('a mask of the strings only needs no further check, and a mask of the text only stays', () => {
    const inner = settleMasks(units, [content, 'to:\n[x]', 'a@b.example']);
    expect(inner).toMatchObject({
      contents: ['{"mail":"to:\\n[x]","other":"a@b.example"}', 'to:\na@b.example', 'a@b.example'],
      again: [],
    });
    const outer = ['{}', 'to:\na@b.example', 'a@b.example'];
    expect(settleMasks(units, outer)).toEqual({ contents: outer, again: [] });
  });
});
