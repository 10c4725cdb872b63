import type { BundleLimits } from '#contracts/bundle';
import type { ByteRange, CheckedText } from '../rules/checked-text.ts';
import { foldPattern } from '../rules/fold/fold-pattern.ts';
import { type FoldView, foldedForm, foldTerm } from '../rules/fold/fold-text.ts';
import { FOLD_BYTE_NS } from '../rules/pattern/cost/engine-figures.ts';
import { spansCostMs, termListCostMs } from '../rules/pattern/cost/pattern-cost.ts';
import { type CompiledPattern, compilePattern } from '../rules/pattern/search/compile-pattern.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import { parsePattern } from '../rules/pattern/syntax/parse-pattern.ts';
import type { PatternFault, PatternSource } from '../rules/pattern/syntax/pattern-tree.ts';
import { printPattern } from '../rules/pattern/syntax/print-pattern.ts';
import { compileLiterals } from '../rules/terms/compile-literals.ts';
import { compileTokens } from '../rules/terms/compile-tokens.ts';
import type { LocalRule } from './compile-local-rule.ts';

/**
 * One search for the matches of a rule: in the text as it is, or in its folded form. A rule with folds has both, so
 * that a fold never loses a match (docs/design/folding.md).
 */
export type LocalPass = TermPass | PatternPass;

type Pass = {
  /** Undefined for a pass over the text as it is. */
  readonly view: FoldView | undefined;
  /** Whether the pass can match where folding changes nothing and the exact pass does not match. */
  readonly differs: boolean;
  /** At most `limit` matches as ranges of the original text. */
  readonly find: (text: CheckedText, limit: number) => readonly ByteRange[];
  /** The estimated worst case of `find`, milliseconds. */
  readonly findMs: () => number;
};

type TermPass = Pass & { readonly kind: 'terms'; readonly test: (text: Buffer) => boolean; readonly testMs: number };
type PatternPass = Pass & { readonly kind: 'pattern'; readonly pattern: CompiledPattern };

type StopList = Extract<LocalRule, { kind: 'stop_list' }>['stopList'];

/** The pass of a stop list; undefined where no term is left after folding. */
export function termPass(list: StopList, view: FoldView | undefined, limits: BundleLimits): TermPass | undefined {
  const { match, caseSensitive } = list;
  const terms = view === undefined ? list.terms : foldTerms(list.terms, view);
  if (terms.length === 0) return undefined;
  const compiled =
    match === 'token' ? compileTokens({ terms, caseSensitive }) : compileLiterals({ terms, caseSensitive });
  const testMs = termListCostMs(limits.maxBodyBytes);
  const differs = terms.some((term, index) => term !== list.terms[index]);
  return {
    kind: 'terms',
    view,
    test: (text) => compiled.test(text),
    testMs,
    differs,
    find: findIn({ view, differs }, ({ bytes }, limit) => compiled.matches(bytes, limit)),
    findMs: () => testMs + 2 * foldCostMs(view, limits.maxBodyBytes),
  };
}

function foldTerms(terms: readonly string[], view: FoldView): readonly string[] {
  return [...new Set(terms.map((term) => foldTerm(term, view)))].filter((term) => term !== '');
}

/** The pass of a pattern, or why it is refused. */
export function patternPass(
  source: PatternSource,
  view: FoldView | undefined,
  { limits, matching }: { readonly limits: BundleLimits; readonly matching: Matching },
): PatternPass | PatternFault {
  const searched = view === undefined ? source : foldedSource(source, view);
  if ('reason' in searched) return searched;
  const pattern = compilePattern(searched, matching);
  if ('reason' in pattern) return view === undefined ? pattern : { reason: `with its folds, ${pattern.reason}` };
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

/** The pattern as it is, written like the one for folded texts; undefined for one that is refused. */
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

type Find = LocalPass['find'];

function findIn({ view, differs }: Pick<LocalPass, 'view' | 'differs'>, find: Find): Find {
  if (view === undefined) return find;
  return (text, limit) => {
    const folded = foldedForm(text, view);
    if (folded !== undefined) return find(folded.text, limit).map(folded.original);
    return differs ? find(text, limit) : [];
  };
}
