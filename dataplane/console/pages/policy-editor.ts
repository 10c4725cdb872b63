import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import type { PolicyForm } from '../clients/policy-form.ts';
import type { Words } from '../words/en.ts';
import { badge } from './badge.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { policyFields } from './policy-form.ts';
import { saidText } from './said-text.ts';

type Editor = {
  /** The id of the policy that gets a new version; undefined for a new policy. */
  readonly id: string | undefined;
  readonly source: string;
  /** The form that is shown instead of the source; undefined in the YAML editor. */
  readonly form: PolicyForm | undefined;
  /** The ETag of the edited version: a save is refused if another version was saved meanwhile. */
  readonly etag: string;
  readonly status: string;
  readonly recipes: readonly string[];
  readonly problem: Markup | Promise<Markup> | undefined;
  /** The idempotency key of an earlier save that may have been accepted; when absent, a new key is made. */
  readonly key?: string | undefined;
  /** The revision that another person saved meanwhile, which this save would replace. */
  readonly onTopOf?: number;
};

/** The editor page: the definition as YAML or as a form, which the server checks while it is typed. */
export function policyEditorPage(page: PageContext, editor: Editor): ConsolePage {
  const { words, session } = page;
  const { policyPages: own, formPages } = words;
  const { id, source, form, etag, status, recipes, problem, key = randomUUID(), onTopOf } = editor;
  const as = form === undefined ? 'yaml' : 'form';
  const other = form === undefined ? { as: 'form', label: formPages.asForm } : { as: 'yaml', label: formPages.asYaml };
  return {
    title: id === undefined ? own.create : own.edit,
    main: html`${problem ?? ''}
${recipes.length === 0 ? '' : html`<p>${own.startFrom}: ${recipes.map((name) => html`<a class="button plain" href="/policies/new?recipe=${name}&as=${as}">${name}</a> `)}</p><p class="hint">${own.recipeTests}</p>`}
<form method="post" action="${id === undefined ? '/policies' : `/policies/${id}`}" class="split" enctype="multipart/form-data" ${form === undefined ? '' : html`hx-post="/policies/check" hx-trigger="input delay:500ms, load, rules-changed from:document" hx-target="#check" hx-sync="this:replace" hx-validate="false"`}>
<input type="hidden" name="csrf" value="${session?.csrf ?? ''}">
<input type="hidden" name="id" value="${id ?? ''}">
<input type="hidden" name="key" value="${key}">
<input type="hidden" name="etag" value="${etag}">
<input type="hidden" name="status" value="${status}">
<div>${form === undefined ? sourceField(words, source) : policyFields(words, form)}
<p class="row"><button>${onTopOf === undefined ? own.save : words.conflicts.saveOnTop(onTopOf)}</button> <button class="plain" formnovalidate formaction="/policies/convert?to=${other.as}">${other.label}</button> <span class="hint">${own.saveHint}</span></p></div>
<div class="stay"><h2>${own.check}</h2><div id="check" aria-live="polite"><p class="quiet">${own.checking}</p></div></div>
</form>`,
  };
}

function sourceField({ policyPages: own }: Words, source: string): Markup | Promise<Markup> {
  return html`<label for="source">${own.source}</label>
<textarea id="source" name="source" class="code" rows="30" spellcheck="false" hx-post="/policies/check" hx-trigger="input changed delay:500ms, load" hx-target="#check" hx-sync="this:replace">\n${source}</textarea>`;
}

/** The outcome of a check while a person types. */
export function sourceCheck(
  words: Words,
  { problems, warnings }: { readonly problems: readonly string[]; readonly warnings: readonly string[] },
): Markup | Promise<Markup> {
  const { policyPages: own } = words;
  const list = (items: readonly string[]) =>
    html`<ul>${items.map((item) => html`<li>${saidText(words, item)}</li>`)}</ul>`;
  return html`${problems.length === 0 ? html`<p>${badge('good', own.valid)}</p>` : html`<p>${badge('bad', own.invalid)}</p>${list(problems)}`}
${warnings.length === 0 ? '' : html`<h3>${own.warnings}</h3>${list(warnings)}`}`;
}

type Decision = keyof Words['play']['decisions'];
type TestOutcome = {
  readonly name: string;
  readonly expected: Decision;
  readonly decision: Decision;
  readonly rules: readonly string[];
};

export function testTable(words: Words, outcomes: readonly TestOutcome[]): Markup | Promise<Markup> {
  const { policyPages: own, play } = words;
  if (outcomes.length === 0) return html`<p class="quiet">${own.testsNone}</p>`;
  const row = ({ name, expected, decision, rules }: TestOutcome) =>
    html`<tr><th scope="row">${name}</th><td>${play.decisions[expected]}</td><td>${play.decisions[decision]}</td><td>${rules.join(', ')}</td><td>${decision === expected ? badge('good', own.passed) : badge('bad', own.failed)}</td></tr>`;
  return html`<table><thead><tr><th scope="col">${own.test}</th><th scope="col">${own.expected}</th><th scope="col">${own.decision}</th><th scope="col">${own.rule}</th><th scope="col">${words.state}</th></tr></thead><tbody>${outcomes.map(row)}</tbody></table>`;
}
