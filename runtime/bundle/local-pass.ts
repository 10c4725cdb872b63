import type { BundleLimits } from '#contracts/bundle';
import type { Checksum } from '#contracts/checksums';
import type { ByteRange, CheckedText } from '../rules/checked-text.ts';
import { hasChecksum } from '../rules/checksum/has-checksum.ts';
import { foldPattern } from '../rules/fold/fold-pattern.ts';
import { type FoldView, foldedForm, foldTerm } from '../rules/fold/fold-text.ts';
import { FOLD_BYTE_NS } from '../rules/pattern/cost/engine-figures.ts';
import { checksumCostMs, spansCostMs, termListCostMs } from '../rules/pattern/cost/pattern-cost.ts';
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
export type LocalPass = SinglePass | PatternPass;

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

/** A pass that is searched on its own: terms, and patterns whose matches must have a checksum. */
type SinglePass = Pass & {
  readonly kind: 'single';
  readonly test: (text: CheckedText) => boolean;
  readonly testMs: number;
};
type PatternPass = Pass & { readonly kind: 'pattern'; readonly pattern: CompiledPattern };

type StopList = Extract<LocalRule, { kind: 'stop_list' }>['stopList'];

/** The pass of a stop list; undefined where no term is left after folding. */
export function termPass(list: StopList, view: FoldView | undefined, limits: BundleLimits): SinglePass | undefined {
  const { match, caseSensitive } = list;
  const terms = view === undefined ? list.terms : foldTerms(list.terms, view);
  if (terms.length === 0) return undefined;
  const compiled =
    match === 'token' ? compileTokens({ terms, caseSensitive }) : compileLiterals({ terms, caseSensitive });
  const testMs = termListCostMs(limits.maxBodyBytes);
  const differs = terms.some((term, index) => term !== list.terms[index]);
  return {
    kind: 'single',
    view,
    test: ({ bytes }) => compiled.test(bytes),
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

const unboundedChecksum =
  'its matches must have a checksum, so their places must be rare: begin the pattern with \\b, and limit its repeats';

/** The pass of a pattern whose matches must have a checksum, or why it is refused. */
export function checksumPass(
  source: PatternSource & { readonly checksum: Checksum },
  view: FoldView | undefined,
  context: { readonly limits: BundleLimits; readonly matching: Matching },
): SinglePass | PatternFault {
  const pass = patternPass(source, view, context);
  if ('reason' in pass) return pass;
  const { pattern, differs } = pass;
  if (pattern.shape.canMatchEmpty) return { reason: 'it can match an empty text, which has no checksum' };
  const { maxBodyBytes } = context.limits;
  const testMs = checksumCostMs(pattern.analysis, maxBodyBytes);
  if (testMs === Number.POSITIVE_INFINITY) return { reason: unboundedChecksum };
  const accepted = pattern.acceptedSpans();
  const list: Find = ({ bytes }, limit) => {
    const accepts = ({ start, end }: ByteRange): boolean =>
      hasChecksum(source.checksum, bytes.toString('utf8', start, end));
    return accepted({ bytes, limit, accepts });
  };
  return {
    kind: 'single',
    view,
    differs,
    test: (text) => list(text, 1).length > 0,
    testMs,
    find: findIn({ view, differs }, list),
    findMs: () => testMs + 2 * foldCostMs(view, maxBodyBytes),
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
