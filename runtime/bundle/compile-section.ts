import type { BundleLimits } from '#contracts/bundle';
import { type Rule, rulesInOrder, type Section } from '#contracts/policy';
import type { CompiledRule, CompiledSection, Effect } from '../rules/compiled-section.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import { planSteps } from '../rules/plan-steps.ts';
import { admitSection, allowanceOf, type PassCost } from './admit.ts';
import type { BundleProblem, BundleWarning } from './bundle-error.ts';
import { compileLocalRule, isLocal, modeOf } from './compile-local-rule.ts';
import { lintRule } from './lint-rule.ts';
import { type PlacedMatcher, planUnits } from './plan-units.ts';
import type { SectionPlace } from './section-place.ts';

type RemoteRule = Extract<Rule, { kind: 'external_pipeline' | 'llm_classifier' }>;
/** Returns the function that calls the provider of a rule. */
export type AskOf = (rule: RemoteRule) => Extract<Effect, { kind: 'ask' }>['ask'];

type SectionCompilation =
  | { readonly ok: true; readonly section: CompiledSection; readonly warnings: readonly BundleWarning[] }
  | { readonly ok: false; readonly problems: readonly BundleProblem[] };

type Prepared = {
  readonly rules: readonly CompiledRule[];
  readonly local: ReadonlyMap<number, PlacedMatcher>;
  readonly warnings: readonly BundleWarning[];
};

/** How the rules of a bundle are compiled. */
type CompileOptions = { readonly limits: BundleLimits; readonly askOf: AskOf; readonly matching: Matching };

/** Compiles and admits a section, or names every rule that cannot be compiled or is too costly. */
export function compileSection(place: SectionPlace, section: Section, options: CompileOptions): SectionCompilation {
  const { limits, matching } = options;
  const prepared = prepareRules(place, section, options);
  if ('problems' in prepared) return { ok: false, problems: prepared.problems };
  const { rules, local, warnings } = prepared;
  const { maxBodyBytes } = limits;
  const allowance = allowanceOf(
    section,
    [...local.values()].map(({ timeoutMs }) => timeoutMs),
  );
  const costs: PassCost[] = [];
  const problems: BundleProblem[] = [];
  const asking = rules.map(({ mode, effect }) => ({ mode, asks: effect.kind === 'ask' }));
  const steps = planSteps(asking, (batch) => {
    const matchers = batch.local.flatMap((index) => local.get(index) ?? []);
    const planned = planUnits(matchers, { maxBodyBytes, passMs: allowance.passMs }, matching);
    costs.push(...planned.costs);
    problems.push(...planned.refused.map(({ rule, reason }) => invalid(place, rule, reason)));
    return planned.units;
  });
  problems.push(...admitSection(place, { allowance, maxBodyBytes }, costs));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, section: { stage: place.stage, deadlineMs: section.deadlineMs, rules, steps }, warnings };
}

function prepareRules(
  place: SectionPlace,
  section: Section,
  { limits, askOf, matching }: CompileOptions,
): Prepared | { readonly problems: readonly BundleProblem[] } {
  const problems: BundleProblem[] = [];
  const warnings: BundleWarning[] = [];
  const rules: CompiledRule[] = [];
  const local = new Map<number, PlacedMatcher>();
  for (const [index, rule] of rulesInOrder(section).entries()) {
    const { id, kind, timeoutMs } = rule;
    const compiled = { ...place, id, kind, mode: modeOf(rule), timeoutMs };
    if (!isLocal(rule)) {
      rules.push({ ...compiled, effect: { kind: 'ask', provider: providerNameOf(rule), ask: askOf(rule) } });
      continue;
    }
    const matcher = compileLocalRule(rule, { stage: place.stage, limits, matching });
    if ('reason' in matcher) {
      problems.push(invalid(place, id, matcher.reason));
      continue;
    }
    const found = matcher.warning === undefined ? [] : [matcher.warning];
    for (const message of [...found, ...lintRule(rule)]) warnings.push({ ...place, rule: id, message });
    rules.push({ ...compiled, effect: matcher.effect });
    local.set(index, { place: index, id, timeoutMs, matcher });
  }
  return problems.length > 0 ? { problems } : { rules, local, warnings };
}

function invalid(place: SectionPlace, rule: string, reason: string): BundleProblem {
  return { ...place, rule, code: 'bundle_invalid', message: reason };
}

/** The name of the provider of a rule in its bundle. */
export function providerNameOf(rule: RemoteRule): string {
  return rule.kind === 'external_pipeline' ? rule.externalPipeline.provider : rule.llmClassifier.provider;
}
