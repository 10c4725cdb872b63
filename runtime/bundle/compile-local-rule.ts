import type { Rule } from '#contracts/policy';
import type { CompiledRule, Effect, Span } from '../rules/compiled-section.ts';
import { compileLiterals } from '../rules/pattern/compile-literals.ts';
import { compilePattern } from '../rules/pattern/compile-pattern.ts';
import { compileTokens } from '../rules/pattern/compile-tokens.ts';

/** A rule that is judged without a provider. */
export type LocalRule = Extract<Rule, { kind: 'stop_list' | 'regex' }>;

/** What finds the matches of one local rule. Both calls throw when the engine fails. */
export type LocalMatcher = {
  readonly test: (text: Buffer) => boolean;
  readonly find: (text: Buffer, limit: number) => readonly Span[];
};

/** Compiles one local rule by itself, or says why it is refused. */
export function compileMatcher(rule: LocalRule): LocalMatcher | { readonly reason: string } {
  if (rule.kind === 'stop_list') {
    const { match, terms, caseSensitive } = rule.stopList;
    const compiled =
      match === 'token' ? compileTokens({ terms, caseSensitive }) : compileLiterals({ terms, caseSensitive });
    return { test: (text) => compiled.test(text), find: (text, limit) => compiled.matches(text, limit) };
  }
  const compiled = compilePattern(rule.regex);
  if ('reason' in compiled) return compiled;
  return { test: (text) => compiled.test(text), find: (text, limit) => compiled.matches(text, limit) };
}

/** What a local rule does where it fires. */
export function localEffect(rule: LocalRule, matcher: LocalMatcher): Effect {
  return rule.action.type === 'deny'
    ? { kind: 'deny' }
    : { kind: 'mask', replacement: rule.action.replacement, find: matcher.find };
}

export function isLocal(rule: Rule): rule is LocalRule {
  return rule.kind === 'stop_list' || rule.kind === 'regex';
}

/** The mode in which a rule runs; a baseline rule always enforces (document 1, section 2.6). */
export function modeOf(rule: Rule): CompiledRule['mode'] {
  return 'mode' in rule ? rule.mode : 'enforce';
}
