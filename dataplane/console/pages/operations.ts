import { html } from 'hono/html';
import { auditAuthorName } from '#contracts/audit';
import { type OperationResource, operationKinds, operationStates } from '#contracts/management';
import type { ListedOperation } from '#contracts/operations';
import type { Words } from '../words/en.ts';
import { badge, type Tone } from './badge.ts';
import { notice } from './notice.ts';
import { operationPolling, outOfBand } from './operation-polling.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { refusalText } from './refusal-text.ts';
import { saidText } from './said-text.ts';
import { timeOf } from './time.ts';

/** The names of the filters in the address of the page; the value of an absent filter is empty. */
export const operationFilterNames = ['kind', 'state', 'subject', 'targetId'] as const;
export type OperationPageFilters = Readonly<Record<(typeof operationFilterNames)[number], string>>;

type ShownOperations = {
  readonly filters: OperationPageFilters;
  /** The operations of one page, or the reason why they cannot be read. */
  readonly found:
    | { readonly items: readonly ListedOperation[]; readonly nextCursor: string | null }
    | Markup
    | Promise<Markup>;
  /** Whether there is a page with newer operations. */
  readonly isLater: boolean;
  readonly isReadable: IsReadable;
};

/** Tells for the id of a policy whether the person may read the policy. */
type IsReadable = (policyId: string) => boolean;

/** How many of the ready replicas confirmed an application. */
export type ConfirmedReplicas = { readonly confirmed: number; readonly expected: number };

const tones = { pending: 'wait', running: 'wait', succeeded: 'good', failed: 'bad' } as const satisfies Readonly<
  Record<ListedOperation['state'], Tone>
>;

/** Every operation that the person may read, in pages. */
export function operationListPage(
  page: PageContext,
  { filters, found, isLater, isReadable }: ShownOperations,
): ConsolePage {
  const { words, session } = page;
  const { operationPages: own } = words;
  const elsewhere = html`<a href="/audit">${own.elsewhere}</a>`;
  return {
    title: own.title,
    main: html`<p class="hint">${own.intro} ${session?.rights.administer === true ? elsewhere : own.elsewhere}</p>
${filterForm(words, filters)}
${'items' in found ? table(page, filters, { ...found, isReadable }) : found}${isLater ? html`<p><a href="/operations${queryOf(filters)}">${own.newest}</a></p>` : ''}`,
  };
}

function filterForm({ operationPages: own, act }: Words, filters: OperationPageFilters): Markup | Promise<Markup> {
  const options = <T extends string>(values: readonly T[], labels: Readonly<Record<T, string>>, chosen: string) =>
    html`<option value="">${act.all}</option>${values.map((value) => html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${labels[value]}</option>`)}`;
  return html`<form class="row" method="get" action="/operations">
<label>${own.command} <select name="kind">${options(operationKinds, own.kinds, filters.kind)}</select></label>
<label>${own.state} <select name="state">${options(operationStates, own.states, filters.state)}</select></label>
<label>${own.author} <input name="subject" maxlength="255" value="${filters.subject}"></label>
<label>${own.objectId} <input name="targetId" maxlength="36" value="${filters.targetId}"></label>
<button class="plain">${act.filter}</button></form>`;
}

function table(
  page: PageContext,
  filters: OperationPageFilters,
  shown: {
    readonly items: readonly ListedOperation[];
    readonly nextCursor: string | null;
    readonly isReadable: IsReadable;
  },
): Markup | Promise<Markup> {
  const { words, language } = page;
  const { operationPages: own } = words;
  const { items, nextCursor, isReadable } = shown;
  if (items.length === 0) {
    const isFiltered = queryOf(filters) !== '';
    const link = isFiltered ? { link: { href: '/operations', label: own.every } } : {};
    return notice({ kind: 'empty', title: own.none, text: isFiltered ? own.noneFound : own.noneText, ...link });
  }
  const row = (one: ListedOperation) =>
    html`<tr><td>${timeOf(language, one.createdAt)}</td><td>${authorText(words, one)}</td><td><a href="/operations/${one.operationId}">${own.kinds[one.kind]}<span class="hidden"> ${one.operationId}</span></a></td><td>${objectOf(page, one, isReadable)}</td><td>${wantedOf(words, one, isReadable)}</td><td>${one.message ?? ''}</td><td aria-live="polite">${operationState(words, one)}${overridden(words, one)}</td></tr>`;
  return html`<table><thead><tr><th scope="col">${own.sent}</th><th scope="col">${own.author}</th><th scope="col">${own.command}</th><th scope="col">${own.object}</th><th scope="col">${own.wanted}</th><th scope="col">${own.message}</th><th scope="col">${own.state}</th></tr></thead><tbody>${items.map(row)}</tbody></table>${operationPolling(openIdsOf(items), { turn: 0, isSlow: false })}
${nextCursor === null ? '' : html`<p><a href="/operations${queryOf(filters, nextCursor)}">${own.older}</a></p>`}`;
}

/** The page of one operation, with links to its object and to its entries in the audit log. */
export function operationPage(
  page: PageContext,
  { one, isReadable }: { readonly one: ListedOperation; readonly isReadable: IsReadable },
): ConsolePage {
  const { words, language, session } = page;
  const { operationPages: own } = words;
  const row = (title: string, value: Markup | Promise<Markup> | string) =>
    html`<tr><th scope="row">${title}</th><td>${value}</td></tr>`;
  return {
    title: own.kinds[one.kind],
    main: html`<p><a href="/operations">${own.every}</a></p>
<div aria-live="polite">${operationState(words, one)}${overridden(words, one)}</div>${operationPolling(openIdsOf([one]), { turn: 0, isSlow: false })}
<table><tbody>${row(own.one, html`<code>${one.operationId}</code>`)}${row(own.author, authorText(words, one))}${row(own.object, objectOf(page, one, isReadable))}${row(own.wanted, wantedOf(words, one, isReadable))}${one.message === null ? '' : row(own.message, one.message)}${row(own.sent, timeOf(language, one.createdAt))}${row(own.changed, timeOf(language, one.updatedAt))}${one.error === null ? '' : row(own.trace, html`<code>${one.error.traceId}</code>`)}</tbody></table>
${session?.rights.administer === true ? html`<p><a href="/audit?operationId=${one.operationId}">${own.auditEntries}</a></p>` : ''}`,
  };
}

/** The parts of an operation that change. */
type ChangingPart = Pick<OperationResource, 'operationId' | 'state' | 'error'>;

/** A newer state that replaces the state shown on a page. */
type LaterState = {
  /**
   * The number of replicas that confirmed the operation; undefined if it needs no confirmation of replicas, or the
   * person may not read the model.
   */
  readonly progress: ConfirmedReplicas | undefined;
};

export function isOpenOperation({ state }: Pick<OperationResource, 'state'>): boolean {
  return state === 'pending' || state === 'running';
}

/** The state, and why the operation failed. */
export function operationState(
  words: Words,
  { operationId, state, error }: ChangingPart,
  later?: LaterState,
): Markup | Promise<Markup> {
  const { operationPages: own } = words;
  const progress = later?.progress;
  return html`<div id="state-${operationId}" ${later === undefined ? '' : outOfBand}>${badge(tones[state], own.states[state])}
${progress === undefined ? '' : html`<p><progress max="${Math.max(1, progress.expected)}" value="${progress.confirmed}" aria-label="${own.progress}"></progress> ${words.confirmed(progress.confirmed, progress.expected)}</p>`}
${error === null ? '' : failure(words, error)}</div>`;
}

function overridden({ operationPages: own }: Words, { overridesFreeze }: ListedOperation): Markup | Promise<Markup> {
  return overridesFreeze ? html` ${badge('warn', own.overridden)}` : html``;
}

function openIdsOf(items: readonly ListedOperation[]): readonly string[] {
  return items.filter(isOpenOperation).map(({ operationId }) => operationId);
}

function failure(words: Words, { code, message, cause }: NonNullable<ListedOperation['error']>) {
  const { text, detail } = refusalText(words, code, message);
  return html`<p><code>${code}</code> ${text}</p>${detail === undefined ? '' : html`<p class="quiet small">${detail}</p>`}${cause === null ? '' : html`<p>${words.operationPages.cause}: ${saidText(words, cause)}</p>`}`;
}

function authorText({ operationPages: own, audit }: Words, { author }: ListedOperation): string {
  const name = auditAuthorName(author) ?? audit.noAuthor;
  if (author.kind !== 'token' || author.actors.length === 0) return name;
  return `${name}, ${own.actsFor(author.actors.map(({ subject }) => subject).join(', '))}`;
}

/** A person who reads only their own operations has no overview to go to. */
function objectOf(
  { words, session }: PageContext,
  { target, targetName }: ListedOperation,
  isReadable: IsReadable,
): Markup | Promise<Markup> {
  const type = words.operationPages.objects[target.type];
  if (targetName === null) return html`${type} <code>${target.id}</code>`;
  if (target.type === 'policy')
    return html`${type} ${isReadable(target.id) ? html`<a href="/policies/${target.id}">${targetName}</a>` : targetName}`;
  return html`${type} ${session?.rights.view === true || session?.rights.readsModels === true ? html`<a href="/overview?model=${target.id}">${targetName}</a>` : targetName}`;
}

function wantedOf(words: Words, { wanted, result }: ListedOperation, isReadable: IsReadable): Markup | Promise<Markup> {
  if (wanted === null) return html``;
  const { policyId, policyName } = wanted;
  const revision = wanted.revision ?? (result !== null && 'revision' in result ? result.revision : null);
  const link = isReadable(policyId) ? html`<a href="/policies/${policyId}">${policyName}</a>` : policyName;
  const name = policyName === null ? html`<code>${policyId}</code>` : link;
  return html`${name} ${revision === null ? '' : `${words.revision} ${revision}`}`;
}

/** The query of the page with these filters; empty without any. */
function queryOf(filters: OperationPageFilters, cursor?: string): string {
  const given = Object.entries({ ...filters, cursor: cursor ?? '' }).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
