import { z } from 'zod';
import { limits } from '#contracts/limits';
import { regexEngine } from '#contracts/local-rules';
import type { BaselineRule, Rule, Section } from '#contracts/policy';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { readPolicySource, writePolicySource } from './policy-source.ts';

/** The stages in which the rules of a form run; a shared rule runs in both stages. */
export const formSections = ['shared', 'request', 'response'] as const;
export type FormSection = (typeof formSections)[number];
/** The mode always marks a baseline rule; the other modes mark additional rules. */
export const formModes = ['always', 'enforce', 'observe'] as const;

/** The members of one rule as texts of a form. Members that the form does not show stay in `rest`, as JSON. */
export type RuleFields = {
  readonly section: string;
  readonly kind: string;
  readonly id: string;
  readonly mode: string;
  readonly timeoutMs: string;
  readonly action: string;
  readonly replacement: string;
  /** The terms of the rule, one in each line, or its pattern; empty for a rule that calls a provider. */
  readonly text: string;
  readonly match: string;
  readonly caseSensitive: string;
  readonly rest: string;
};
export const ruleFieldNames = [
  'section',
  'kind',
  'id',
  'mode',
  'timeoutMs',
  'action',
  'replacement',
  'text',
  'match',
  'caseSensitive',
  'rest',
] as const satisfies readonly (keyof RuleFields)[];

/** A policy as texts of a form. */
export type PolicyForm = {
  readonly name: string;
  readonly description: string;
  readonly requestDeadlineMs: string;
  readonly responseDeadlineMs: string;
  /** The providers of the definition, as JSON. */
  readonly providers: string;
  readonly rules: readonly RuleFields[];
};

/** Maximum number of rules of a form: a page with more is not usable. */
export const mostFormRules = 200;

/** The form of a valid source; undefined for a source that only the YAML editor can show. */
export function readPolicyForm(source: string): PolicyForm | undefined {
  const read = readPolicySource(source);
  if (!read.ok) return undefined;
  const { name, description, definition } = read.value;
  const { shared = [], request, response, providers } = definition;
  const rules = [
    ...shared.map((rule) => fieldsOf('shared', rule, 'always')),
    ...rulesOf('request', request),
    ...rulesOf('response', response),
  ];
  if (rules.length > mostFormRules || rules.some((rule) => rule === undefined)) return undefined;
  // A text area makes a line end of each carriage return.
  const texts = [description, ...rules.flatMap((rule) => [rule?.replacement ?? '', rule?.text ?? ''])];
  if (texts.some((text) => text.includes('\r')) || /[\r\n]/.test(name)) return undefined;
  return {
    name,
    description,
    requestDeadlineMs: String(request.deadlineMs),
    responseDeadlineMs: String(response.deadlineMs),
    providers: JSON.stringify(providers),
    rules: rules.filter((rule) => rule !== undefined),
  };
}

/** A new rule of a form. */
export function newRule(section: FormSection, kind: 'stop_list' | 'regex'): RuleFields {
  return {
    section,
    kind,
    id: '',
    mode: 'always',
    timeoutMs: String(kind === 'regex' ? 100 : limits.timeoutMs.default),
    action: 'deny',
    replacement: '',
    text: '',
    match: 'token',
    caseSensitive: 'false',
    rest: '{}',
  };
}

/** The source that a form describes, as the YAML editor shows it. It is checked like any other source. */
export function writePolicyForm(form: PolicyForm): string {
  const { name, description, providers } = form;
  const shared = form.rules.filter(({ section }) => section === 'shared').map((rule) => ruleOf(rule));
  const definition = {
    ...(shared.length === 0 ? {} : { shared }),
    request: sectionOf(form, 'request', form.requestDeadlineMs),
    response: sectionOf(form, 'response', form.responseDeadlineMs),
    providers: jsonOrUndefined(providers) ?? [],
  };
  return writePolicySource({ name, description, definition });
}

function rulesOf(section: FormSection, { baseline, additional }: Section): readonly (RuleFields | undefined)[] {
  return [
    ...baseline.map((rule) => fieldsOf(section, rule, 'always')),
    ...additional.map((rule) => fieldsOf(section, rule, rule.mode)),
  ];
}

/** The fields of a rule in the form; undefined for a rule whose terms are not lines. */
function fieldsOf(section: FormSection, rule: Rule, mode: string): RuleFields | undefined {
  const { id, kind, timeoutMs, action, ...others } = rule as BaselineRule & { readonly mode?: string };
  const { mode: _, ...members } = others;
  const { type, ...masked } = action;
  const { replacement = '', ...kept } = masked as { readonly replacement?: string };
  const common = { section, kind, id, mode, timeoutMs: String(timeoutMs), action: type, replacement };
  const restOf = (own: object): string => JSON.stringify({ action: kept, own });
  switch (rule.kind) {
    case 'stop_list': {
      const { terms, match, caseSensitive, ...own } = rule.stopList;
      if (terms.some((term) => /[\r\n]/.test(term))) return undefined;
      return { ...common, text: terms.join('\n'), match, caseSensitive: String(caseSensitive), rest: restOf(own) };
    }
    case 'regex': {
      const { pattern, caseSensitive, engine: _engine, ...own } = rule.regex;
      return { ...common, text: pattern, match: '', caseSensitive: String(caseSensitive), rest: restOf(own) };
    }
    case 'external_pipeline':
    case 'llm_classifier':
      return { ...common, text: '', match: '', caseSensitive: '', rest: restOf(members) };
  }
}

function sectionOf({ rules }: PolicyForm, name: FormSection, deadlineMs: string) {
  const own = rules.filter(({ section }) => section === name);
  return {
    deadlineMs: numberOf(deadlineMs),
    baseline: own.filter(({ mode }) => mode === 'always').map((rule) => ruleOf(rule)),
    additional: own.filter(({ mode }) => mode !== 'always').map((rule) => ({ ...ruleOf(rule), mode: rule.mode })),
  };
}

function ruleOf(rule: RuleFields): object {
  const { id, kind, timeoutMs, action: type, replacement, text, match, caseSensitive } = rule;
  const rest = restSchema.safeParse(jsonOrUndefined(rule.rest));
  const { action: kept, own } = rest.success ? rest.data : { action: {}, own: {} };
  const action = type === 'mask' ? { type, replacement, ...kept } : { type };
  const head = { id, kind, timeoutMs: numberOf(timeoutMs), action };
  const isExact = caseSensitive === 'true';
  switch (kind) {
    case 'stop_list': {
      const terms = text.split('\n').filter((line) => line !== '');
      return { ...head, stopList: { terms, match, caseSensitive: isExact, ...own } };
    }
    case 'regex':
      return { ...head, regex: { engine: regexEngine, pattern: text, caseSensitive: isExact, ...own } };
    default:
      return { ...head, ...own };
  }
}

const restSchema = z.object({ action: z.record(z.string(), z.unknown()), own: z.record(z.string(), z.unknown()) });

/** A text that is not a number stays a text, so that the check names it. */
function numberOf(text: string): number | string {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : text;
}
