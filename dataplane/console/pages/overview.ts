import { html } from 'hono/html';
import type { Overview, OverviewModel } from '#contracts/overview';
import type { Words } from '../words/en.ts';
import { badge, type Tone } from './badge.ts';
import { notice } from './notice.ts';
import {
  isFound,
  mostFindCharacters,
  type OverviewPlace,
  overviewQuery,
  partOfList,
  type ShownPart,
} from './overview-place.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { pageLinks } from './page-links.ts';
import { runbookLink } from './runbooks.ts';
import { saidText } from './said-text.ts';

const tones = {
  applied: 'good',
  pending: 'wait',
  failed: 'bad',
  disabled: 'off',
  unguarded: 'warn',
  deleting: 'off',
} as const satisfies Readonly<Record<OverviewModel['state'], Tone>>;

const replicaTones = {
  loaded: 'good',
  pending: 'wait',
  stale: 'wait',
  rejected: 'bad',
  not_ready: 'off',
} as const satisfies Readonly<Record<OverviewModel['replicas'][number]['state'], Tone>>;

type ShownOverview = {
  readonly place: OverviewPlace;
  /** Tells for the id of a policy whether the person may read the policy. */
  readonly isReadable: (policyId: string) => boolean;
};

/** Models on one page: with the scripts and the charts, a page has at most 150 KB over the wire. */
const mostModels = 40;
const mostCards = 10;
/** Maximum number of replicas of one model that are shown by name. */
const mostReplicas = 6;

/**
 * Every model that the person may read, with the policy that its replicas enforce; the server sends the tables again after each change.
 * The decisions are loaded afterwards, because a gateway that hangs delays them by seconds.
 */
export function overviewPage(
  { words, session }: PageContext,
  overview: Overview,
  { isReadable, place }: ShownOverview,
): ConsolePage {
  const decisions = html`<section aria-labelledby="decisions-title"><h2 id="decisions-title">${words.counts.title}</h2>
<div id="decisions" hx-get="/overview/decisions${overviewQuery(place)}" hx-trigger="load, every 15s" hx-swap="innerMorph"><p class="hint"><a href="/activity">${words.activity}</a></p></div></section>`;
  return {
    title: words.overview,
    main: html`<p class="hint live"><span class="pulse" aria-hidden="true"></span>${words.liveText}</p>
${overview.models.length > mostModels || place.find !== '' ? findForm(words, place) : ''}
<div id="live" hx-sse:connect="${eventsAddress(overview, place)}" hx-config='{"sse":{"reconnectMaxDelay":"10s"}}' hx-swap="innerMorph" aria-live="polite">
${overviewTables(words, overview, { isReadable, place })}
</div>
${session?.rights.view === true ? decisions : ''}`,
  };
}

/**
 * A search by the alias or the name of a model. Its result is the same page with a different address, which can be
 * bookmarked and shared.
 */
function findForm({ findModel, findButton }: Words, { find }: OverviewPlace) {
  return html`<form class="row" role="search" method="get" action="/overview"><label>${findModel} <input type="search" name="find" size="32" maxlength="${mostFindCharacters}" value="${find}"></label><button>${findButton}</button></form>`;
}

/** The address of the stream of events. The stream sends the tables only if they differ from those of the page. */
function eventsAddress({ mark }: Overview, place: OverviewPlace): string {
  const query = new URLSearchParams(overviewQuery(place));
  query.set('shown', mark);
  return `/overview/events?${query}`;
}

/** The part of the page that changes. */
export function overviewTables(
  words: Words,
  { models }: Overview,
  { isReadable, place }: ShownOverview,
): Markup | Promise<Markup> {
  if (models.length === 0) return notice({ kind: 'empty', title: words.noModels, text: words.noModelsText });
  const found = models.filter(({ alias, name }) => isFound(place, alias, name));
  if (found.length === 0) {
    const link = { href: '/overview', label: words.everyModel };
    return notice({ kind: 'empty', title: words.noneFound, text: words.noneFoundText, link });
  }
  const troubled = found.filter(({ isWell }) => !isWell);
  const cards = partOfList(troubled, { place, name: 'attention', size: mostCards });
  const rows = partOfList(found, { place, name: 'models', size: mostModels });
  return html`<section aria-labelledby="attention"><h2 id="attention">${words.attention}</h2>
${
  troubled.length === 0
    ? html`<p class="quiet">${place.find === '' ? words.attentionNone : words.attentionNoneFound}</p>`
    : html`<ul class="cards">${cards.items.map((model) => attentionCard(words, model))}</ul>${partLinks(words, cards)}`
}</section>
<section aria-labelledby="models"><h2 id="models">${words.models}</h2>
<table><thead><tr><th scope="col">${words.model}</th><th scope="col">${words.state}</th><th scope="col">${words.policy}</th><th scope="col">${words.servesNow}</th><th scope="col">${words.replicas}</th></tr></thead>
<tbody>${rows.items.map((model) => modelRow(words, model, isReadable))}</tbody></table>${partLinks(words, rows)}</section>`;
}

function partLinks(words: Words, { items, from, to, of, links }: ShownPart<OverviewModel>): Markup | Promise<Markup> {
  return html`${items.length === of ? '' : html`<p class="quiet">${words.lists.shown(from, to, of)}</p>`}${pageLinks(words, links)}`;
}

function attentionCard(words: Words, { alias, state, summary, whatToDo, runbook }: OverviewModel) {
  return html`<li class="card"><div class="head"><strong>${alias}</strong> ${badge(tones[state], words.states[state])}</div>
<p>${saidText(words, summary)}</p>${whatToDo === null ? '' : html`<p class="remedy"><span>${words.whatToDo}:</span> ${saidText(words, whatToDo)}</p>`}${runbook === null ? '' : runbookLink(words, runbook, alias)}</li>`;
}

function modelRow(words: Words, model: OverviewModel, isReadable: ShownOverview['isReadable']) {
  const { name, alias, state, wanted, policyId, serves, replicas, appliedBy } = model;
  const ready = replicas.filter((replica) => replica.state !== 'not_ready');
  // Replicas that did not confirm need attention.
  const named = [...replicas]
    .sort((one, other) => Number(one.state === 'loaded') - Number(other.state === 'loaded'))
    .slice(0, mostReplicas);
  const confirmed = ready.filter((replica) => replica.state === 'loaded').length;
  return html`<tr id="model-${name}"><th scope="row">${alias}${alias === name ? '' : html`<span class="sub">${name}</span>`}</th>
<td>${badge(tones[state], words.states[state])}</td>
<td>${wanted === null ? words.unguarded : html`${policyId === null || !isReadable(policyId) ? wanted.policy : html`<a href="/policies/${policyId}">${wanted.policy}</a>`} <span class="sub">${words.revision} ${wanted.revision}</span>`}</td>
<td>${saidText(words, serves)}${appliedBy === null ? '' : html`<span class="sub">${words.appliedBy}: ${appliedBy}</span>`}</td>
<td><span class="count">${words.confirmed(confirmed, ready.length)}</span><ul class="chips">${named.map(
    (replica) =>
      html`<li>${badge(replicaTones[replica.state], `${replica.name}: ${words.replicaStates[replica.state]}`, { isNamed: true })}</li>`,
  )}${replicas.length > mostReplicas ? html`<li class="quiet">${words.audit.others(replicas.length - mostReplicas)}</li>` : ''}</ul></td></tr>`;
}

/** The address of the page of the overview that shows the model; the first page if no page shows it. */
export function overviewPathOf(models: Overview['models'], model: string): string {
  const at = models.findIndex(({ modelId }) => modelId === model);
  return `/overview${overviewQuery({ attention: 1, models: Math.floor(Math.max(0, at) / mostModels) + 1, charts: 1, find: '' })}`;
}
