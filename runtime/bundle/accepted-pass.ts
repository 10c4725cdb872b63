import type { BundleLimits } from '#contracts/bundle';
import type { Checksum } from '#contracts/checksums';
import { numberEnd } from '../rules/checksum/number-end.ts';
import type { FoldView } from '../rules/fold/fold-text.ts';
import { acceptedCostMs, termListCostMs } from '../rules/pattern/cost/pattern-cost.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import type { PatternFault, PatternSource } from '../rules/pattern/syntax/pattern-tree.ts';
import { allowedPlaces, type IsAllowed } from '../rules/terms/allowed-places.ts';
import { compileTokens } from '../rules/terms/compile-tokens.ts';
import { type Find, findIn, foldCostMs, patternPass, type SinglePass } from './local-pass.ts';
import { longestTermBytes } from './longest-term.ts';

/** The conditions that a match of a pattern must satisfy. */
type Tested = PatternSource & {
  readonly checksum?: Checksum | undefined;
  readonly allow?: readonly string[] | undefined;
};

/**
 * The pass of a pattern whose matches must have a checksum or be outside of allowed texts, or the reason why it is
 * refused.
 */
export function acceptedPass(
  source: Tested,
  view: FoldView | undefined,
  context: { readonly limits: BundleLimits; readonly matching: Matching },
): SinglePass | PatternFault {
  const pass = patternPass(source, view, context);
  if ('reason' in pass) return pass;
  const { pattern, differs } = pass;
  const { checksum, allow } = source;
  const test = checksum === undefined ? 'be compared with the allow-list' : 'have a checksum';
  if (pattern.shape.canMatchEmpty)
    return { reason: `it can match an empty text, and its matches must ${test}: make it match a character at least` };
  const { maxBodyBytes } = context.limits;
  const allowMs = allow === undefined ? 0 : termListCostMs(maxBodyBytes);
  const { minBytes, maxBytes } = pattern.shape;
  const everyEnd = checksum !== undefined && minBytes < maxBytes;
  const longestRejected =
    checksum !== undefined || allow === undefined
      ? maxBytes
      : longestTermBytes({ terms: allow, caseSensitive: source.caseSensitive });
  const testMs = acceptedCostMs(pattern.analysis, maxBodyBytes, { everyEnd, longestRejected }) + allowMs;
  if (testMs === Number.POSITIVE_INFINITY)
    return {
      reason: `its matches must ${test}, so their places must be rare: begin the pattern with \\b, and limit its repeats`,
    };
  const accepted = pattern.acceptedSpans();
  const allowed =
    allow === undefined ? undefined : compileTokens({ terms: allow, caseSensitive: source.caseSensitive });
  const list: Find = ({ bytes }, limit) => {
    let isAllowed: IsAllowed | undefined;
    return accepted({
      bytes,
      limit,
      overlapping: everyEnd,
      acceptedEnd(match, ends) {
        const { start } = match;
        const end =
          checksum === undefined ? match.end : numberEnd(checksum, bytes, start, everyEnd ? ends() : [match.end]);
        if (allowed === undefined || end < 0) return end;
        isAllowed ??= allowedPlaces(allowed, bytes);
        // A shorter number that begins at the same place is inside of the same allowed text.
        return isAllowed(start, end) ? -1 : end;
      },
    });
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
