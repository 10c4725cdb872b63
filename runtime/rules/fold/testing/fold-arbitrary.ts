import fc from 'fast-check';
import { type Fold, folds } from '#contracts/folds';

/** Characters that folds treat differently, and their plain forms. */
export const foldCharacters: readonly string[] = [
  ...'bomBOMsSkKeEaA19_-. ',
  ...'бомБОМёЁеЕйЙиаАВвѕЅсС',
  ...['\t', '\n', '  ', '\u00a0', '\u2003', '\u2028', '\u3000'],
  ...['\u200b', '\u200d', '\u00ad', '\ufeff', '\ufe0f', '\u034f', '\u2060', '\u{e0061}', '\u{e0100}'],
  ...['\u0301', '\u0308', '\u0306', '\u0336', '\u0327', '\u05b0', '\u0340'],
  ...['é', 'ö', 'ё\u0301', 'ǆ', 'ß', 'ẞ', 'ſ', '\u212a', 'ı', 'İ', 'σ', 'ς', 'ο', 'Ο', 'օ', 'ᏼ'],
  ...['ｂ', 'Ｂ', '𝐛', '𝒷', 'ⓑ', 'ﬁ', '①', '½', 'ﷺ', '㎏', 'ᵒ', 'ﾞ', '가', '각', 'か\u3099', '😀', '漢', '\u{2f800}'],
];

export const someFolds: fc.Arbitrary<Fold[]> = fc.subarray([...folds], { minLength: 1 });

/** Texts of such characters, so that marks, blanks and removed characters follow each other. */
export const foldableText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...foldCharacters), { maxLength: 24 })
  .map((parts) => parts.join(''));
