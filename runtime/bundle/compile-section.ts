import { type Rule, rulesInOrder, type Section, type Stage } from '#contracts/policy';
import type { CompiledRule, CompiledSection, Effect, Unit } from '../rules/compiled-section.ts';
import { planSteps } from '../rules/plan-steps.ts';
import type { BundleProblem } from './bundle-error.ts';
import { compileMatcher, isLocal, type LocalMatcher, localEffect, modeOf } from './compile-local-rule.ts';

/** Where a section stands: in messages, metrics and problems. */
export type SectionPlace = { readonly policyId: string; readonly stage: Stage };

export type RemoteRule = Extract<Rule, { kind: 'external_pipeline' | 'llm_classifier' }>;
/** How the provider of a rule is asked. */
export type AskOf = (rule: RemoteRule) => Extract<Effect, { kind: 'ask' }>['ask'];

/** Compiles a section, or names every rule that cannot be compiled. */
export function compileSection(
  place: SectionPlace,
  section: Section,
  askOf: AskOf,
): CompiledSection | { readonly problems: readonly BundleProblem[] } {
  const problems: BundleProblem[] = [];
  const matchers = new Map<number, LocalMatcher>();
  const rules: CompiledRule[] = [];
  for (const [index, rule] of rulesInOrder(section).entries()) {
    const effect = effectOf(rule, askOf, (matcher) => matchers.set(index, matcher));
    if ('reason' in effect) {
      problems.push({
        ...place,
        rule: rule.id,
        code: 'bundle_invalid',
        message: sentence(place, rule.id, effect.reason),
      });
      continue;
    }
    rules.push({ ...place, id: rule.id, kind: rule.kind, mode: modeOf(rule), timeoutMs: rule.timeoutMs, effect });
  }
  if (problems.length > 0) return { problems };
  const asking = rules.map((rule) => ({ mode: rule.mode, asks: rule.effect.kind === 'ask' }));
  const steps = planSteps(asking, (batch) => batch.local.map((index) => unitOf(index, rules, matchers)));
  return { stage: place.stage, deadlineMs: section.deadlineMs, rules, steps };
}

/** A sentence about one rule that names it and its place. */
export function sentence({ policyId, stage }: SectionPlace, rule: string, reason: string): string {
  return `policy ${policyId}, ${stage}, rule ${rule}: ${reason}`;
}

function effectOf(
  rule: Rule,
  askOf: AskOf,
  keep: (matcher: LocalMatcher) => void,
): Effect | { readonly reason: string } {
  if (!isLocal(rule)) return { kind: 'ask', ask: askOf(rule) };
  const matcher = compileMatcher(rule);
  if ('reason' in matcher) return matcher;
  keep(matcher);
  return localEffect(rule, matcher);
}

const none: readonly number[] = [];

function unitOf(index: number, rules: readonly CompiledRule[], matchers: ReadonlyMap<number, LocalMatcher>): Unit {
  const matcher = matchers.get(index);
  const rule = rules[index];
  if (matcher === undefined || rule === undefined) throw new RangeError('a local rule has its matcher');
  const places = [index];
  return { places, timeoutMs: rule.timeoutMs, firing: (text) => (matcher.test(text) ? places : none) };
}
