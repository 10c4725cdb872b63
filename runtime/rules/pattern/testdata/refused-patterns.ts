/** A pattern that the engine matches slowly. */
export type SlowPattern = {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  /** Parts from which testing/measure-refused.ts randomly composes the slow text. */
  readonly parts: readonly string[];
  /**
   * Milliseconds that the engine took for 32,768 bytes of it, in a set with the memory of the runtime and alone,
   * medians of 9 texts (npm re2 1.27.1, Node 24, AMD EPYC at about 2.5 GHz).
   */
  readonly measuredMs: { readonly set: number; readonly alone: number };
};

/** Letters of many scripts, for texts that use many byte classes. */
const MANY_LETTERS: readonly string[] = Array.from({ length: 500 }, (_, index) =>
  String.fromCodePoint(0x100 + index * 97),
).filter((letter) => /\p{L}/u.test(letter));

/** Every one of these patterns is refused at maxBodyBytes 32768, whatever its timeoutMs is. */
export const REFUSED_PATTERNS: readonly SlowPattern[] = [
  {
    pattern: '(.{1,100}){1,9}Z',
    caseSensitive: true,
    parts: ['a', 'b', 'c', 'd', 'e', 'я', '€', '😀'],
    measuredMs: { set: 1, alone: 290 },
  },
  {
    pattern: '\\p{L}{100,200}Z',
    caseSensitive: true,
    parts: MANY_LETTERS,
    measuredMs: { set: 3, alone: 183 },
  },
  { pattern: '[b-z].{10,50}x1y', caseSensitive: true, parts: ['b', ' '], measuredMs: { set: 38, alone: 22 } },
  { pattern: '[a-z].{10,50}x1y', caseSensitive: true, parts: ['q', '.'], measuredMs: { set: 38, alone: 22 } },
  {
    pattern: '(?i)[a-z]{2}.{0,80}[0-9]{4}Q',
    caseSensitive: true,
    parts: ['ab', '.', '1'],
    measuredMs: { set: 43, alone: 22 },
  },
  { pattern: '\\d.{5,60}\\d.{5,60}Q', caseSensitive: true, parts: ['1', 'x'], measuredMs: { set: 89, alone: 43 } },
  { pattern: '[^ ]{1,40}@.{1,40}Q', caseSensitive: true, parts: ['a', '@', ' '], measuredMs: { set: 23, alone: 19 } },
  { pattern: 'a.{50}b.{50}c', caseSensitive: true, parts: ['a', 'b', '.'], measuredMs: { set: 30, alone: 18 } },
  { pattern: '(?:x|y)[xyz]{40}1', caseSensitive: true, parts: ['x', 'y', 'z'], measuredMs: { set: 17, alone: 14 } },
];
