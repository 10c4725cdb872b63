import { html } from 'hono/html';
import type { PolicySummary } from '#contracts/management';
import type { Overview, OverviewModel } from '#contracts/overview';
import type { Words } from '../words/en.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';

/** The policy and revision of a model; null for a model without a policy. */
type Application = { readonly policyId: string | null; readonly revision: number | null } | null;

/** The application of a model as a member of a form, so that a command can tell whether it has changed since. */
export function applicationMark(application: Application): string {
  return application === null ? 'none' : `${application.policyId ?? ''}:${application.revision ?? ''}`;
}

/** The name of the member with the mark of a model. */
export function markNameOf(modelId: string): string {
  return `shown.${modelId}`;
}

function shownMark({ modelId, wanted, policyId }: OverviewModel): Markup | Promise<Markup> {
  const mark = applicationMark(wanted === null ? null : { policyId, revision: wanted.revision });
  return html`<input type="hidden" name="${markNameOf(modelId ?? '')}" value="${mark}">`;
}

type ApplySection = {
  readonly policyId: string;
  readonly revisions: readonly PolicySummary[];
  /** The API applies no revision of an archived policy. */
  readonly isArchived: boolean;
  /** The models that the person may apply a revision to. */
  readonly open: Overview['models'];
  readonly csrf: string;
};

/** The application of a revision to a model, and the way back for those models that have this policy. */
export function applySection(words: Words, { policyId, revisions, isArchived, open, csrf }: ApplySection) {
  const { policyPages: own } = words;
  const back = open
    .filter((model) => model.policyId === policyId && !(isArchived && model.previous?.policyId === policyId))
    .map((model) => rollBackForm(words, model, csrf));
  if (isArchived) return html`${back}`;
  return html`<section aria-labelledby="apply"><h2 id="apply">${own.applyTo}</h2>
<form class="row" method="post" action="/policies/${policyId}/apply">
<input type="hidden" name="csrf" value="${csrf}">${open.map(shownMark)}
<label>${words.model} <select name="model" required>${open.length > 1 ? html`<option value="">${own.chooseModel}</option>` : ''}${open.map(({ modelId, alias }) => html`<option value="${modelId ?? ''}">${alias}</option>`)}</select></label>
<label>${own.chosen} <select name="revision">${revisions.map((one) => html`<option value="${one.revision}">${one.revision}</option>`)}</select></label>
<button>${own.applyButton}</button>
</form><p class="hint">${own.applyHint}</p>${back}</section>`;
}

/** A form that applies the previous revision to a model again; empty if no previous revision is known. */
function rollBackForm({ policyPages: own }: Words, model: OverviewModel, csrf: string) {
  const { alias, modelId, previous } = model;
  if (previous === null) return '';
  const { policyId, policy, revision } = previous;
  return html`<form method="post" action="/policies/${policyId}/apply"><input type="hidden" name="csrf" value="${csrf}">${shownMark(model)}<input type="hidden" name="model" value="${modelId ?? ''}"><input type="hidden" name="revision" value="${revision}">
<p><button class="plain">${own.rollBack(alias, policy, revision)}</button></p></form>`;
}

/** Shows that another application was made meanwhile, and requires a new confirmation. */
export function changedModelPage(
  { words, session }: PageContext,
  asked: {
    readonly policyId: string;
    readonly modelId: string;
    readonly revision: string;
    readonly now: Application;
    /** The name of the present policy. */
    readonly policyName: string;
  },
): ConsolePage {
  const { conflicts: own } = words;
  const { policyId, modelId, revision, now, policyName } = asked;
  const text = now === null ? own.modelNone : own.modelText(policyName, String(now.revision ?? ''));
  return {
    title: own.model,
    main: html`${notice({ kind: 'error', title: own.model, text, link: { href: `/policies/${policyId}`, label: own.backToPolicy } })}
<form method="post" action="/policies/${policyId}/apply"><input type="hidden" name="csrf" value="${session?.csrf ?? ''}"><input type="hidden" name="${markNameOf(modelId)}" value="${applicationMark(now)}"><input type="hidden" name="model" value="${modelId}"><input type="hidden" name="revision" value="${revision}">
<p><button>${own.applyInPlace(revision)}</button></p></form>`,
  };
}
