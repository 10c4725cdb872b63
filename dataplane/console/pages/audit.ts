import { html } from 'hono/html';
import {
  type AuditChain,
  type AuditEntry,
  type AuditOutcome,
  type AuditServing,
  auditActions,
  auditAuthorName,
  auditOutcomes,
} from '#contracts/audit';
import type { ProofEvent } from '../clients/prove-audit-log.ts';
import type { Words } from '../words/en.ts';
import { badge, type Tone } from './badge.ts';
import { notice, refusalNotice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { saidText } from './said-text.ts';
import { timeOf } from './time.ts';

/** The names of the filters in the address of the page; the value of an absent filter is empty. */
export const auditFilterNames = [
  'action',
  'outcome',
  'subject',
  'targetId',
  'operationId',
  'chain',
  'since',
  'until',
] as const;
export type AuditPageFilters = Readonly<Record<(typeof auditFilterNames)[number], string>>;

type ShownAudit = {
  readonly filters: AuditPageFilters;
  readonly chains: readonly AuditChain[];
  /** The entries of one page, or the reason why they cannot be read. */
  readonly found:
    | { readonly items: readonly AuditEntry[]; readonly nextCursor: string | null }
    | Markup
    | Promise<Markup>;
  /** Whether there is a page with newer entries. */
  readonly isLater: boolean;
};

const tones = {
  accepted: 'wait',
  refused: 'bad',
  succeeded: 'good',
  failed: 'bad',
  observed: 'off',
} as const satisfies Readonly<Record<AuditOutcome, Tone>>;

/** The audit log: filters, entries in pages, and the proof of the chains. */
export function auditPage(page: PageContext, { filters, chains, found, isLater }: ShownAudit): ConsolePage {
  const { audit } = page.words;
  return {
    title: audit.title,
    main: html`<p class="hint">${audit.intro}</p>${filterForm(page.words, filters, chains)}
${'items' in found ? entries(page, filters, found) : found}${isLater ? html`<p><a href="/audit${queryOf(filters)}">${audit.newest}</a></p>` : ''}
<section aria-labelledby="proof-title"><h2 id="proof-title">${audit.proof}</h2><p class="hint">${audit.proofText}</p>
<p><button type="button" class="plain" hx-post="/audit/verify" hx-target="#proof" hx-swap="beforeend" hx-sync="this:drop">${audit.prove}</button></p><div id="proof" aria-live="polite"></div></section>`,
  };
}

function filterForm(
  { audit, act }: Words,
  filters: AuditPageFilters,
  chains: readonly AuditChain[],
): Markup | Promise<Markup> {
  const options = (values: readonly string[], chosen: string, label = (value: string): string => value) =>
    html`<option value="">${act.all}</option>${values.map((value) => html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${label(value)}</option>`)}`;
  const labelOf = (value: string): string => audit.outcomes[value as AuditOutcome];
  return html`<form class="row" method="get" action="/audit">
<label>${audit.action} <select name="action">${options(auditActions, filters.action)}</select></label>
<label>${act.outcome} <select name="outcome">${options(auditOutcomes, filters.outcome, labelOf)}</select></label>
<label>${audit.author} <input name="subject" maxlength="255" value="${filters.subject}"></label>
<label>${audit.targetId} <input name="targetId" maxlength="1024" value="${filters.targetId}"></label>
<label>${audit.operationId} <input name="operationId" maxlength="64" value="${filters.operationId}"></label>
<label>${audit.service} <select name="chain">${options(
    chains.map(({ chain }) => chain),
    filters.chain,
  )}</select></label>
<label>${audit.since} <input name="since" maxlength="32" placeholder="2026-01-31 09:00" value="${filters.since}"></label>
<label>${audit.until} <input name="until" maxlength="32" placeholder="2026-01-31 09:00" value="${filters.until}"></label>
<button class="plain">${act.filter}</button></form>`;
}

function entries(
  page: PageContext,
  filters: AuditPageFilters,
  { items, nextCursor }: { readonly items: readonly AuditEntry[]; readonly nextCursor: string | null },
): Markup | Promise<Markup> {
  const { words, language } = page;
  const { audit } = words;
  if (items.length === 0) {
    const link = queryOf(filters) === '' ? {} : { link: { href: '/audit', label: audit.every } };
    const text = queryOf(filters) === '' ? audit.noneText : audit.noneFound;
    return notice({ kind: 'empty', title: audit.none, text, ...link });
  }
  const row = ({ chain, number, content }: AuditEntry) =>
    html`<tr><td>${timeOf(language, content.time)}</td><td>${auditAuthorName(content.author) ?? audit.noAuthor}</td><td><code>${content.action}</code></td><td class="mono">${targetOf(page, content)}${changeOf(words, content)}</td><td>${badge(tones[content.outcome], audit.outcomes[content.outcome])} ${content.code === null ? '' : html`<code>${content.code}</code>`}</td><td class="mono">${chain} ${number}${operationLink(words, content)}</td></tr>`;
  return html`<table><thead><tr><th scope="col">${words.act.time}</th><th scope="col">${audit.author}</th><th scope="col">${audit.action}</th><th scope="col">${audit.target}</th><th scope="col">${words.act.outcome}</th><th scope="col">${audit.entry}</th></tr></thead><tbody>${items.map(row)}</tbody></table>
${nextCursor === null ? '' : html`<p><a href="/audit${queryOf(filters, nextCursor)}">${audit.next}</a></p>`}`;
}

function targetOf({ has }: PageContext, { target, action }: AuditEntry['content']): Markup | Promise<Markup> | string {
  if (target === null) return '';
  const text = `${target.type} ${target.id}`;
  const hasPage = has.agents && target.type === 'agent' && action !== 'agent.delete';
  return hasPage ? html`<a href="/agents/${target.id}">${text}</a>` : text;
}

/** The text of an entry about versions, rights and settings. */
function changeOf(
  { audit }: Words,
  { serving, access, settings }: AuditEntry['content'],
): Markup | Promise<Markup> | '' {
  if (serving === undefined && access === undefined && settings === undefined) return '';
  const members = settings === undefined ? [] : [audit.settings(settings.changed.join(', '))];
  const versions = serving === undefined ? [] : [audit.change(servingText(serving.before), servingText(serving.after))];
  const counts = access === undefined ? [] : [audit.rights(access.before?.count ?? 0, access.after?.count ?? 0)];
  const signed = (sign: '+' | '−', named: readonly string[], count = named.length): readonly string[] => {
    const others = count > named.length ? [audit.others(count - named.length)] : [];
    return [...named, ...others].map((text) => `${sign} ${text}`);
  };
  const rights =
    access === undefined
      ? []
      : [...signed('+', access.granted, access.grantedCount), ...signed('−', access.revoked, access.revokedCount)];
  return html`${[...versions, ...counts, ...rights, ...members].map((line) => html`<span class="sub">${line}</span>`)}`;
}

function servingText(serving: AuditServing | null): string {
  if (serving === null) return '—';
  const { version, canary } = serving;
  return canary === null ? version : `${version}, ${canary.percent} % ${canary.version}`;
}

/** A link to an operation of the management API; jobs of other services have no page of this kind. */
function operationLink({ operationPages: own }: Words, { operationId, target }: AuditEntry['content']) {
  if (operationId === null || (target?.type !== 'policy' && target?.type !== 'model')) return '';
  return html` <a href="/operations/${operationId}">${own.one}<span class="hidden"> ${operationId}</span></a>`;
}

/** The query of the page with these filters; empty without any. */
function queryOf(filters: AuditPageFilters, cursor?: string): string {
  const given = Object.entries({ ...filters, cursor: cursor ?? '' }).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** The state of a proof; each state replaces the previous one on the page. */
export function proofState(words: Words, event: ProofEvent): Markup | Promise<Markup> {
  return html`<hx-partial hx-target="#proof" hx-swap="innerHTML">${shownProof(words, event)}</hx-partial>`;
}

function shownProof(words: Words, event: ProofEvent): Markup | Promise<Markup> {
  const { audit } = words;
  switch (event.kind) {
    case 'progress':
      return html`<progress max="${event.of}" value="${event.entries}" aria-label="${audit.proof}"></progress> ${audit.read(event.entries, event.of)}`;
    case 'proved':
      return html`<p>${badge('good', audit.proved(event.entries))}</p><p class="hint">${audit.heads}</p><ul>${event.chains.map(({ chain, newest }) => html`<li><code>${chain}:${newest.number}:${newest.hash}</code></li>`)}</ul>`;
    case 'broken': {
      const { chain, number, problem } = event;
      return notice({
        kind: 'error',
        title: audit.broken(chain, number),
        text: html`${saidText(words, problem)}. ${audit.brokenText}`,
      });
    }
    case 'refused':
      return refusalNotice(words, event.answer);
  }
}
