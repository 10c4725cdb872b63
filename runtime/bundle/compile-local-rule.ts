import type { BundleLimits } from '#contracts/bundle';
import type { Rule } from '#contracts/policy';
import type { ByteRange, CheckedText } from '../rules/checked-text.ts';
import type { CompiledRule, Effect } from '../rules/compiled-section.ts';
import { spansCostMs, termListCostMs } from '../rules/pattern/cost/pattern-cost.ts';
import { type CompiledPattern, compilePattern } from '../rules/pattern/search/compile-pattern.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import { compileLiterals } from '../rules/terms/compile-literals.ts';
import { compileTokens } from '../rules/terms/compile-tokens.ts';

/** A rule that is judged without a provider. */
export type LocalRule = Extract<Rule, { kind: 'stop_list' | 'regex' }>;

/** A compiled local rule. Searching is planned per batch, because patterns of several rules share a pass. */
export type LocalMatcher = {
  readonly effect: Exclude<Effect, { kind: 'ask' }>;
  /** The estimated worst case of listing its matches, milliseconds; undefined for rules that do not mask. */
  readonly listingMs: number | undefined;
  /** A warning for the author of the rule. */
  readonly warning: string | undefined;
} & (
  | { readonly kind: 'terms'; readonly test: (text: Buffer) => boolean; readonly testMs: number }
  | { readonly kind: 'pattern'; readonly pattern: CompiledPattern }
);

/** Compiles one local rule, or returns the reason for its refusal. */
export function compileLocalRule(
  rule: LocalRule,
  limits: BundleLimits,
  matching: Matching,
): LocalMatcher | { readonly reason: string } {
  return rule.kind === 'stop_list' ? compileStopList(rule, limits) : compileRegex(rule, limits, matching);
}

function compileStopList(rule: Extract<LocalRule, { kind: 'stop_list' }>, limits: BundleLimits): LocalMatcher {
  const { match, terms, caseSensitive } = rule.stopList;
  const list = { terms, caseSensitive };
  const compiled = match === 'token' ? compileTokens(list) : compileLiterals(list);
  const costMs = termListCostMs(limits.maxBodyBytes);
  return {
    kind: 'terms',
    test: (text) => compiled.test(text),
    testMs: costMs,
    effect: effectOf(rule, ({ bytes }, limit) => compiled.matches(bytes, limit)),
    listingMs: rule.action.type === 'mask' ? costMs : undefined,
    warning: undefined,
  };
}

function compileRegex(
  rule: Extract<LocalRule, { kind: 'regex' }>,
  limits: BundleLimits,
  matching: Matching,
): LocalMatcher | { readonly reason: string } {
  const pattern = compilePattern(rule.regex, matching);
  if ('reason' in pattern) return pattern;
  const masks = rule.action.type === 'mask';
  const { canMatchEmpty, usesAnyByte } = pattern.shape;
  if (masks && canMatchEmpty)
    return { reason: 'it can match an empty text, which a mask cannot replace: make it match a character at least' };
  if (masks && usesAnyByte)
    return { reason: 'it uses \\C, and a mask could cut a character in two: write a dot instead' };
  if (masks) pattern.buildAhead();
  return {
    kind: 'pattern',
    pattern,
    effect: effectOf(rule, (text, limit) => pattern.spans(text, limit)),
    listingMs: masks ? spansCostMs(pattern.analysis, limits.maxBodyBytes, limits.maxMatches + 1) : undefined,
    warning: usesAnyByte ? 'it uses \\C, which can match a part of a character' : undefined,
  };
}

function effectOf(
  { action }: LocalRule,
  find: (text: CheckedText, limit: number) => readonly ByteRange[],
): Exclude<Effect, { kind: 'ask' }> {
  return action.type === 'deny' ? { kind: 'deny' } : { kind: 'mask', replacement: action.replacement, find };
}

export function isLocal(rule: Rule): rule is LocalRule {
  return rule.kind === 'stop_list' || rule.kind === 'regex';
}

/** The mode in which a rule runs; a baseline rule always enforces (`bundle:section:baseline-always-enforce`). */
export function modeOf(rule: Rule): CompiledRule['mode'] {
  return 'mode' in rule ? rule.mode : 'enforce';
}
