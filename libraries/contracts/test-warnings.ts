import type { Definition, Rule, Stage } from './policy.ts';
import { isEnforced, rulesInOrder } from './policy.ts';
import { effectiveSection } from './shared-rules.ts';

/** A test that was run, with the rules that decided it. */
type RunTest = { readonly stage: Stage; readonly rules: readonly string[] };

type LocalRule = Extract<Rule, { kind: 'stop_list' | 'regex' }>;

/** Maximum number of names in one warning. */
const maxNames = 5;
const stages = ['request', 'response'] as const satisfies readonly Stage[];

/**
 * Warns of enforced local rules that decide no test, so that no test shows that they match. Tests of a policy do not
 * run rules that call a provider, and rules in mode observe never decide. A test of one section also covers a rule of
 * the other section with the same content.
 */
export function testWarnings(definition: Definition, tests: readonly RunTest[]): readonly string[] {
  if (tests.length === 0) return ['it has no tests: nothing shows that its rules fire'];
  const shown = new Set(
    stages.flatMap((stage) => {
      const fired = new Set(tests.filter((one) => one.stage === stage).flatMap(({ rules }) => rules));
      return localRules(definition, stage)
        .filter(({ id }) => fired.has(id))
        .map(contentOf);
    }),
  );
  return stages.flatMap((stage) => {
    const silent = localRules(definition, stage).filter((rule) => !shown.has(contentOf(rule)));
    if (silent.length === 0) return [];
    const names = silent.slice(0, maxNames).map(({ id }) => id);
    const more = silent.length > maxNames ? ` and ${silent.length - maxNames} more` : '';
    const what = silent.length === 1 ? 'rule' : 'rules';
    return [
      `${stage} section, ${what} ${names.join(', ')}${more}: no test fires ${silent.length === 1 ? 'it' : 'them'}`,
    ];
  });
}

function localRules(definition: Definition, stage: Stage): readonly LocalRule[] {
  return rulesInOrder(effectiveSection(definition, stage)).filter(
    (rule): rule is LocalRule => isEnforced(rule) && (rule.kind === 'stop_list' || rule.kind === 'regex'),
  );
}

function contentOf(rule: LocalRule): string {
  return JSON.stringify(rule.kind === 'regex' ? rule.regex : rule.stopList);
}
