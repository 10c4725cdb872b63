import { html } from 'hono/html';
import { managementLimits } from '#contracts/management';
import { type FormSection, formModes, formSections, type PolicyForm, type RuleFields } from '../clients/policy-form.ts';
import type { Words } from '../words/en.ts';
import type { Markup } from './page.ts';

/**
 * The fields of a policy: name, times, and the rules of each section. They replace the text field of the YAML editor.
 */
export function policyFields(words: Words, form: PolicyForm): Markup | Promise<Markup> {
  const { formPages: own } = words;
  const { name, description, requestDeadlineMs, responseDeadlineMs, providers, rules } = form;
  const deadlines = { request: requestDeadlineMs, response: responseDeadlineMs };
  const deadline = (section: 'request' | 'response') =>
    html`<label>${own.deadlines[section]} <input name="${section}DeadlineMs" class="short" inputmode="numeric" required value="${deadlines[section]}"></label>`;
  const section = (
    one: FormSection,
  ) => html`<section aria-labelledby="of-${one}"><h2 id="of-${one}">${own.sections[one]}</h2>
${one === 'shared' ? '' : deadline(one)}
<div id="rules-${one}">${rules.filter((rule) => rule.section === one).map((rule) => ruleFields(words, rule))}</div>
<p class="row">${addButton(one, 'stop_list', own.addTerms)} ${addButton(one, 'regex', own.addPattern)}</p></section>`;
  return html`<input type="hidden" name="as" value="form"><input type="hidden" name="providers" value="${providers}">
<p class="row"><label>${own.name} <input name="name" required maxlength="128" size="32" value="${name}"></label>
<label>${own.description} <textarea name="description" maxlength="${managementLimits.policyDescription.max}" rows="${linesOf(description)}" cols="48">\n${description}</textarea></label></p>
${formSections.map(section)}`;
}

function addButton(section: FormSection, kind: string, label: string): Markup | Promise<Markup> {
  return html`<button type="button" class="plain" hx-get="/policies/form/rule?section=${section}&kind=${kind}" hx-target="#rules-${section}" hx-swap="beforeend">${label}</button>`;
}

/**
 * The fields of one rule. Every rule has the same fields, so that the values of a form can be assigned to their rules.
 */
export function ruleFields({ formPages: own }: Words, rule: RuleFields): Markup | Promise<Markup> {
  const { section, kind, id, mode, timeoutMs, action, replacement, text, match, caseSensitive, rest } = rule;
  const kinds: Readonly<Record<string, string>> = own.kinds;
  const isLocal = kind === 'stop_list' || kind === 'regex';
  const hidden = (name: keyof RuleFields, value: string) =>
    html`<input type="hidden" name="rule.${name}" value="${value}">`;
  const choice = (name: keyof RuleFields, label: string, values: Readonly<Record<string, string>>, chosen: string) =>
    html`<label>${label} <select name="rule.${name}">${Object.entries(values).map(([value, shown]) => html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${shown}</option>`)}</select></label>`;
  const modes = Object.fromEntries(formModes.map((one) => [one, own.modes[one]]));
  const area = (label: string) =>
    html`<label class="wide">${label} <textarea name="rule.text" class="code" rows="${kind === 'regex' ? 2 : 5}" spellcheck="false">\n${text}</textarea></label>`;
  const kept = keptMembers(rest);
  return html`<fieldset class="rule"><legend>${own.rule(kinds[kind] ?? kind, id)}</legend>
${hidden('section', section)}${hidden('kind', kind)}${hidden('rest', rest)}
<div class="row"><label>${own.id} <input name="rule.id" required maxlength="128" value="${id}"></label>
${section === 'shared' ? hidden('mode', 'always') : choice('mode', own.mode, modes, mode)}
<label>${own.timeoutMs} <input name="rule.timeoutMs" class="short" inputmode="numeric" required value="${timeoutMs}"></label>
${isLocal ? choice('action', own.action, own.actions, action) : hidden('action', action)}
${isLocal ? html`<label>${own.replacement} <textarea name="rule.replacement" maxlength="1024" rows="${linesOf(replacement)}" cols="24">\n${replacement}</textarea></label>` : hidden('replacement', replacement)}</div>
${isLocal ? area(kind === 'regex' ? own.pattern : own.terms) : hidden('text', text)}
<div class="row">${kind === 'stop_list' ? choice('match', own.match, own.matches, match) : hidden('match', match)}
${isLocal ? choice('caseSensitive', own.caseSensitive, own.cases, caseSensitive) : hidden('caseSensitive', caseSensitive)}
<button type="button" class="danger" hx-get="/policies/form/removed" hx-target="closest fieldset" hx-swap="outerHTML">${own.remove}<span class="hidden"> ${id}</span></button></div>
${kept.length === 0 ? '' : html`<p class="hint">${own.kept}: <code>${kept.join(', ')}</code></p>`}</fieldset>`;
}

/** The number of rows of a text field: as many as the text has lines, at most five. */
function linesOf(text: string): number {
  return Math.min(5, text.split('\n').length);
}

/** The names of the members that the form keeps and does not show. */
function keptMembers(rest: string): readonly string[] {
  try {
    const { action = {}, own = {} } = JSON.parse(rest) as { readonly action?: object; readonly own?: object };
    return [...Object.keys(action), ...Object.keys(own)];
  } catch {
    return [];
  }
}
