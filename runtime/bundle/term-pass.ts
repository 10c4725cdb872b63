import type { BundleLimits } from '#contracts/bundle';
import { type FoldView, foldTerm } from '../rules/fold/fold-text.ts';
import { stemTermsCostMs, termListCostMs } from '../rules/pattern/cost/pattern-cost.ts';
import { exceptAllowed } from '../rules/terms/allowed-places.ts';
import { compileLiterals } from '../rules/terms/compile-literals.ts';
import { compileStems } from '../rules/terms/compile-stems.ts';
import { compileTokens } from '../rules/terms/compile-tokens.ts';
import type { TermMatcher } from '../rules/terms/term-list.ts';
import type { LocalRule } from './compile-local-rule.ts';
import { findIn, foldCostMs, type SinglePass } from './local-pass.ts';

type StopList = Extract<LocalRule, { kind: 'stop_list' }>['stopList'];

/** The pass of a stop list; undefined where no term is left after folding. */
export function termPass(list: StopList, view: FoldView | undefined, limits: BundleLimits): SinglePass | undefined {
  const terms = view === undefined ? list.terms : foldTerms(list.terms, view);
  if (terms.length === 0) return undefined;
  const compiled = withoutAllowed(compileList(list, terms), list);
  const testMs = termListCostMs(limits.maxBodyBytes) + allowCostMs(list, limits);
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

/** The pass that compares the stems of words. */
export function stemPass(list: StopList, limits: BundleLimits): SinglePass {
  const compiled = withoutAllowed(compileStems(list.terms), list);
  const testMs = stemTermsCostMs(limits.maxBodyBytes) + allowCostMs(list, limits);
  return {
    kind: 'single',
    view: undefined,
    test: ({ bytes }) => compiled.test(bytes),
    testMs,
    differs: false,
    find: ({ bytes }, limit) => compiled.matches(bytes, limit),
    findMs: () => testMs,
  };
}

/** Reading the text for allowed texts, and comparing each match with their places. */
function allowCostMs({ allow }: StopList, { maxBodyBytes }: BundleLimits): number {
  return allow === undefined ? 0 : 3 * termListCostMs(maxBodyBytes);
}

function compileList({ match, caseSensitive }: StopList, terms: readonly string[]): TermMatcher {
  return match === 'token' ? compileTokens({ terms, caseSensitive }) : compileLiterals({ terms, caseSensitive });
}

function withoutAllowed(compiled: TermMatcher, list: StopList): TermMatcher {
  return list.allow === undefined ? compiled : exceptAllowed(compiled, compileList(list, list.allow));
}

function foldTerms(terms: readonly string[], view: FoldView): readonly string[] {
  return [...new Set(terms.map((term) => foldTerm(term, view)))].filter((term) => term !== '');
}
