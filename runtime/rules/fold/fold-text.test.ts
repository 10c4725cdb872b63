import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Fold, folds, responseSourceBytes } from '#contracts/folds';
import type { Stage } from '#contracts/policy';
import { checkedText } from '../checked-text.ts';
import { foldText, foldView } from './fold-text.ts';
import { foldableText, someFolds } from './testing/fold-arbitrary.ts';
import { foldNaively } from './testing/naive-fold.ts';

function folded(text: string, kinds: readonly Fold[] = folds, stage: Stage = 'request'): string {
  const form = foldText(checkedText(Buffer.from(text)), foldView(kinds, stage));
  return form?.text.bytes.toString('utf8') ?? text;
}

describe('foldText', () => {
  test.each<[string, readonly Fold[], string, string]>([
    ['runs of white space become one blank', ['whitespace'], 'a \t\n\u00a0\u3000b', 'a b'],
    ['white space stays without its fold', ['invisible'], 'a  b', 'a  b'],
    ['characters that are not shown are left out', ['invisible'], '\ufeffb\u200bo\u00adm\u{e0061}b', 'bomb'],
    ['characters that are not shown stay without their fold', ['compatibility'], 'b\u200bomb', 'b\u200bomb'],
    ['forms of one letter are equal', ['compatibility'], 'ｂ𝒷ⓑ ﬁ ёЁ', 'bbb fi еЕ'],
    ['a letter and its mark become one letter', ['compatibility'], 'e\u0301 и\u0306 е\u0308', 'é й е'],
    ['letters that look Latin become Latin', ['confusables'], 'bоmb ΒΟΜΒ', 'bomb BOMB'],
    ['accents are left out', ['confusables'], 'bómb bo\u0301\u0336mb', 'bomb bomb'],
    ['the mark of й is not an accent', ['confusables'], 'й и\u0306', 'й й'],
    ['a form that would be longer stays', ['compatibility'], 'ﷺ', 'ﷺ'],
  ])('folding: %s', (_, kinds, text, expected) => {
    expect(folded(text, kinds)).toBe(expected);
  });

  test('a text that folding does not change has no folded form', () => {
    for (const text of ['', 'plain text', 'привет', 'a b']) {
      expect(
        foldText(checkedText(Buffer.from(text)), foldView(['whitespace', 'invisible'], 'request')),
      ).toBeUndefined();
    }
  });

  test('in a response, one folded character is made from at most 6 bytes', () => {
    expect(responseSourceBytes).toBe(6);
    expect(folded('a\u200b\u00adb', folds, 'response')).toBe('ab');
    expect(folded('a\u200b\u200bb', folds, 'response')).toBe('a\u200bb');
    expect(folded(`a${' '.repeat(6)}b`, folds, 'response')).toBe('a b');
    expect(folded(`a${' '.repeat(7)}b`, folds, 'response')).toBe('a  b');
    expect(folded(`a${'\u200b'.repeat(1_000)}b`)).toBe('ab');
  });

  test('folding a folded text changes nothing more', () => {
    fc.assert(
      fc.property(foldableText, (text) => {
        const once = folded(text);
        expect(folded(once)).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the folded text and the ranges of its characters are those of the plain implementation', () => {
    fc.assert(
      fc.property(foldableText, someFolds, fc.constantFrom<Stage>('request', 'response'), (text, kinds, stage) => {
        const view = foldView(kinds, stage);
        const checked = checkedText(Buffer.from(text));
        const form = foldText(checked, view);
        const units = foldNaively(text, view.kinds, view.sourceBytes);
        const plain = units.map((unit) => unit.text).join('');
        expect(form?.text.bytes.toString('utf8') ?? text).toBe(plain);
        if (form === undefined) return;
        expect(form.text.bytes.length).toBeLessThanOrEqual(checked.bytes.length);
        let at = 0;
        for (const unit of units) {
          const end = at + Buffer.byteLength(unit.text);
          expect(form.original({ start: at, end })).toEqual({ start: unit.start, end: unit.end });
          at = end;
        }
      }),
      { numRuns: 10_000 },
    );
  });
});
