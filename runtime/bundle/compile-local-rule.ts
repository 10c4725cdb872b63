import type { BundleLimits } from '#contracts/bundle';
import type { Rule, Stage } from '#contracts/policy';
import type { ByteRange } from '../rules/checked-text.ts';
import type { CompiledRule, Effect } from '../rules/compiled-section.ts';
import { type FoldView, foldView } from '../rules/fold/fold-text.ts';
import { keepCostMs } from '../rules/pattern/cost/pattern-cost.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import { acceptedPass } from './accepted-pass.ts';
import { type LocalPass, patternPass } from './local-pass.ts';
import { stemPass, termPass } from './term-pass.ts';

/** A rule that is judged without a provider. */
export type LocalRule = Extract<Rule, { kind: 'stop_list' | 'regex' }>;

/** A compiled local rule. Searching is planned per batch, because patterns of several rules share a pass. */
export type LocalMatcher = {
  readonly effect: Exclude<Effect, { kind: 'ask' }>;
  /** The passes of the rule; the rule matches where one of them matches. */
  readonly passes: readonly LocalPass[];
  /** The estimated worst case of listing its matches, milliseconds; undefined for rules that do not mask. */
  readonly listingMs: number | undefined;
  /** A warning for the author of the rule. */
  readonly warning: string | undefined;
};

type CompileContext = { readonly stage: Stage; readonly limits: BundleLimits; readonly matching: Matching };

/** Compiles one local rule, or returns the reason for its refusal. */
export function compileLocalRule(rule: LocalRule, context: CompileContext): LocalMatcher | { readonly reason: string } {
  return rule.kind === 'stop_list' ? compileStopList(rule, context) : compileRegex(rule, context);
}

function compileStopList(
  rule: Extract<LocalRule, { kind: 'stop_list' }>,
  { stage, limits }: CompileContext,
): LocalMatcher {
  const passes: LocalPass[] = viewsOf(rule, stage).flatMap((view) => termPass(rule.stopList, view, limits) ?? []);
  if (rule.stopList.stem !== undefined) passes.push(stemPass(rule.stopList, limits));
  return matcherOf(rule, { passes, limits });
}

function compileRegex(
  rule: Extract<LocalRule, { kind: 'regex' }>,
  context: CompileContext,
): LocalMatcher | { readonly reason: string } {
  const { checksum, allow } = rule.regex;
  if (checksum !== undefined || allow !== undefined) return compileChecked(rule.regex, rule, context);
  const masks = rule.action.type === 'mask';
  const passes: LocalPass[] = [];
  let warning: string | undefined;
  for (const view of viewsOf(rule, context.stage)) {
    const pass = patternPass(rule.regex, view, context);
    if ('reason' in pass) return pass;
    const { canMatchEmpty, usesAnyByte } = pass.pattern.shape;
    if (masks && canMatchEmpty)
      return { reason: 'it can match an empty text, which a mask cannot replace: make it match a character at least' };
    if (masks && usesAnyByte)
      return { reason: 'it uses \\C, and a mask could cut a character in two: write a dot instead' };
    if (view !== undefined && usesAnyByte)
      return { reason: 'it uses \\C, which has no meaning in a folded text: write a dot instead, or remove fold' };
    if (masks) pass.pattern.buildAhead();
    if (usesAnyByte) warning = 'it uses \\C, which can match a part of a character';
    passes.push(pass);
  }
  return matcherOf(rule, { passes, limits: context.limits, warning });
}

function compileChecked(
  source: Parameters<typeof acceptedPass>[0],
  rule: LocalRule,
  context: CompileContext,
): LocalMatcher | { readonly reason: string } {
  const passes: LocalPass[] = [];
  for (const view of viewsOf(rule, context.stage)) {
    const pass = acceptedPass(source, view, context);
    if ('reason' in pass) return pass;
    passes.push(pass);
  }
  return matcherOf(rule, { passes, limits: context.limits });
}

function matcherOf(
  rule: LocalRule,
  { passes, limits, warning }: { passes: readonly LocalPass[]; limits: BundleLimits; warning?: string | undefined },
): LocalMatcher {
  const { action } = rule;
  const keeps = action.type === 'mask' && (action.keepFirst ?? action.keepLast) !== undefined;
  const keepMs = keeps ? keepCostMs(limits.maxBodyBytes) : 0;
  const listingMs = action.type === 'mask' ? passes.reduce((sum, { findMs }) => sum + findMs(), keepMs) : undefined;
  return { effect: effectOf(rule, passes), passes, listingMs, warning };
}

/** The folds of a rule; undefined for a rule that matches exactly. */
export function foldsOf(rule: LocalRule, stage: Stage): FoldView | undefined {
  const { fold } = rule.kind === 'stop_list' ? rule.stopList : rule.regex;
  return fold === undefined ? undefined : foldView(fold, stage);
}

function viewsOf(rule: LocalRule, stage: Stage): readonly (FoldView | undefined)[] {
  const view = foldsOf(rule, stage);
  return view === undefined ? [undefined] : [undefined, view];
}

function effectOf({ action }: LocalRule, passes: readonly LocalPass[]): Exclude<Effect, { kind: 'ask' }> {
  if (action.type === 'deny') return { kind: 'deny' };
  const [only] = passes;
  const find = only !== undefined && passes.length === 1 ? only.find : findInAll(passes);
  const { replacement, keepFirst = 0, keepLast = 0 } = action;
  return { kind: 'mask', text: { replacement, keepFirst, keepLast }, find };
}

function findInAll(passes: readonly LocalPass[]): LocalPass['find'] {
  return (text, limit) => {
    const found = passes.map((pass) => pass.find(text, limit));
    // A pass that reached the limit may have more matches, so that its count must be reported to the caller.
    return found.find((ranges) => ranges.length >= limit) ?? joinRanges(found.flat());
  };
}

/** The ranges from left to right; overlapping ranges become one. */
function joinRanges(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const sorted = [...ranges].sort((left, right) => left.start - right.start || left.end - right.end);
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of sorted) {
    const last = joined.at(-1);
    if (last === undefined || start >= last.end) joined.push({ start, end });
    else if (end > last.end) last.end = end;
  }
  return joined;
}

export function isLocal(rule: Rule): rule is LocalRule {
  return rule.kind === 'stop_list' || rule.kind === 'regex';
}

/** The mode in which a rule runs; a baseline rule always enforces (`bundle:section:baseline-always-enforce`). */
export function modeOf(rule: Rule): CompiledRule['mode'] {
  return 'mode' in rule ? rule.mode : 'enforce';
}
