import type { RuneSet } from '../../unicode/rune-set.ts';

/**
 * The places at which an assertion is true; word characters are the ASCII word characters, compared byte by byte, as in
 * RE2.
 */
export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-boundary' | 'no-word-boundary';

/** The meaning of a pattern, with case folding, flags and groups resolved. */
export type PatternNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'runes'; readonly set: RuneSet }
  | { readonly kind: 'any-byte' }
  | { readonly kind: 'assertion'; readonly at: Assertion }
  | { readonly kind: 'concat'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'either'; readonly items: readonly PatternNode[] }
  | {
      readonly kind: 'repeat';
      readonly item: PatternNode;
      readonly min: number;
      /** Maximum number of repetitions; Infinity if there is no limit. */
      readonly max: number;
      readonly greedy: boolean;
    };

/** A parsed pattern. */
export type PatternTree = {
  readonly node: PatternNode;
  /**
   * The pattern as the engine gets it: the same meaning, without capturing groups (they only cost time) and without
   * anything that npm re2 would rewrite before RE2 sees it.
   */
  readonly engineSource: string;
  /** The source with its capturing groups, if it has any: they count towards the size that the engine refuses. */
  readonly capturingSource: string | undefined;
  readonly caseSensitive: boolean;
};

/** Why a pattern is refused, in words that its author can act on; never holds more than the offending syntax. */
export type PatternFault = { readonly reason: string };

/** The source of a pattern and its case mode, as a policy states them. */
export type PatternSource = { readonly pattern: string; readonly caseSensitive: boolean };

/** Joins nodes into one node for their sequence. */
export function concat(items: readonly PatternNode[]): PatternNode {
  const [only] = items;
  if (only === undefined) return { kind: 'empty' };
  return items.length === 1 ? only : { kind: 'concat', items };
}

/** Joins nodes into one node for alternatives, in order of preference. */
export function either(items: readonly PatternNode[]): PatternNode {
  const [only] = items;
  if (only === undefined) return { kind: 'empty' };
  return items.length === 1 ? only : { kind: 'either', items };
}
