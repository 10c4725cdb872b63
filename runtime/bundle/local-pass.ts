import type { BundleLimits } from '#contracts/bundle';
import type { ByteRange, CheckedText } from '../rules/checked-text.ts';
import { foldPattern } from '../rules/fold/fold-pattern.ts';
import { type FoldView, foldedForm } from '../rules/fold/fold-text.ts';
import { FOLD_BYTE_NS } from '../rules/pattern/cost/engine-figures.ts';
import { spansCostMs } from '../rules/pattern/cost/pattern-cost.ts';
import { type CompiledPattern, compilePattern } from '../rules/pattern/search/compile-pattern.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import { parsePattern } from '../rules/pattern/syntax/parse-pattern.ts';
import type { PatternFault, PatternSource } from '../rules/pattern/syntax/pattern-tree.ts';
import { printPattern } from '../rules/pattern/syntax/print-pattern.ts';

/**
 * One search for the matches of a rule: in the original text, or in its folded form. A rule with folds has both
 * searches, so that a fold never loses a match (docs/design/folding.md).
 */
export type LocalPass = SinglePass | PatternPass;

type Pass = {
  /** The folded form in which the pass searches; undefined for a pass over the original text. */
  readonly view: FoldView | undefined;
  /** Whether the pass can match in a text that folding does not change and in which the exact pass does not match. */
  readonly differs: boolean;
  /** Returns at most `limit` matches as ranges of the original text. */
  readonly find: (text: CheckedText, limit: number) => readonly ByteRange[];
  /** The estimated worst case of `find`, milliseconds. */
  readonly findMs: () => number;
};

/** A pass that is searched separately: terms, and patterns whose matches are tested one by one. */
export type SinglePass = Pass & {
  readonly kind: 'single';
  readonly test: (text: CheckedText) => boolean;
  readonly testMs: number;
};
type PatternPass = Pass & { readonly kind: 'pattern'; readonly pattern: CompiledPattern };

/** The pass of a pattern, or the reason why the pattern is refused. */
export function patternPass(
  source: PatternSource,
  view: FoldView | undefined,
  { limits, matching }: { readonly limits: BundleLimits; readonly matching: Matching },
): PatternPass | PatternFault {
  const searched = view === undefined ? source : foldedSource(source, view);
  if ('reason' in searched) return searched;
  const pattern = compilePattern(searched, matching);
  if ('reason' in pattern)
    return view === undefined
      ? pattern
      : { reason: `the form of the pattern that its folds require is refused: ${pattern.reason}` };
  const differs = view !== undefined && searched.pattern !== exactSource(source);
  return {
    kind: 'pattern',
    view,
    pattern,
    differs,
    find: findIn({ view, differs }, (text, limit) => pattern.spans(text, limit)),
    findMs: () =>
      spansCostMs(pattern.analysis, limits.maxBodyBytes, limits.maxMatches + 1) +
      2 * foldCostMs(view, limits.maxBodyBytes),
  };
}

/** The original pattern, written like a pattern for folded texts; undefined for a refused pattern. */
function exactSource(source: PatternSource): string | undefined {
  const tree = parsePattern(source);
  return 'reason' in tree ? undefined : printPattern(tree.node);
}

/** The pattern that is searched in folded texts, or why the pattern of the rule is refused. */
export function foldedSource(source: PatternSource, view: FoldView): PatternSource | PatternFault {
  const tree = parsePattern(source);
  if ('reason' in tree) return tree;
  return { pattern: printPattern(foldPattern(tree.node, view)), caseSensitive: true };
}

/** The estimated worst case of folding a text, milliseconds. */
export function foldCostMs(view: FoldView | undefined, maxBytes: number): number {
  return view === undefined ? 0 : (maxBytes * FOLD_BYTE_NS) / 1e6;
}

export type Find = LocalPass['find'];

/** The search in the folded form of a text, if the pass has a folded form. */
export function findIn({ view, differs }: Pick<LocalPass, 'view' | 'differs'>, find: Find): Find {
  if (view === undefined) return find;
  return (text, limit) => {
    const folded = foldedForm(text, view);
    if (folded !== undefined) return find(folded.text, limit).map(folded.original);
    return differs ? find(text, limit) : [];
  };
}
