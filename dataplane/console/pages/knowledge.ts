import { html } from 'hono/html';
import type { Citation, Collection, IngestJob } from '#contracts/retrieval';
import type { StoredDocument } from '#contracts/retrieval-documents';
import type { Words } from '../words/en.ts';
import { badge, type Tone } from './badge.ts';
import { writingSection } from './knowledge-upload.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { type PageLinks, pageLinks } from './page-links.ts';
import { saidText } from './said-text.ts';
import { timeOf } from './time.ts';

const tones = {
  created: 'off',
  populating: 'wait',
  ready: 'good',
  deleted: 'off',
  error: 'bad',
} as const satisfies Readonly<Record<Collection['status'], Tone>>;

/** The page of the collections that the person may read. */
export function knowledgePage(
  { words }: PageContext,
  collections: readonly Collection[],
  links: PageLinks,
): ConsolePage {
  const { know } = words;
  const row = ({
    collection_id: id,
    name,
    description,
    status,
    doc_count: documents,
    chunk_count: chunks,
  }: Collection) =>
    html`<tr><th scope="row"><a href="/knowledge/${id}">${name}</a><span class="sub">${description}</span></th><td>${badge(tones[status], know.states[status])}</td><td class="number">${documents}</td><td class="number">${chunks}</td></tr>`;
  return {
    title: words.knowledge,
    main: html`<p class="hint">${know.intro}</p>${
      collections.length === 0
        ? notice({ kind: 'empty', title: know.none, text: know.noneText })
        : html`<table><thead><tr><th scope="col">${know.collection}</th><th scope="col">${words.state}</th><th scope="col" class="number">${know.documents}</th><th scope="col" class="number">${know.chunks}</th></tr></thead><tbody>${collections.map(row)}</tbody></table>`
    }${pageLinks(words, links)}`,
  };
}

/** The page of one collection: a search, whose text is sent in a body, its documents, and an upload. */
export function collectionPage(
  page: PageContext,
  shown: {
    readonly collection: Collection;
    /** The documents of one page, or the reason why they cannot be read. */
    readonly documents: readonly StoredDocument[] | Markup | Promise<Markup>;
    readonly links: PageLinks;
    /** Persons whose view is offered; empty in production. */
    readonly persons: readonly string[];
    readonly mayWrite: boolean;
  },
): ConsolePage {
  const { words, session } = page;
  const { know } = words;
  const { collection, documents, links, persons, mayWrite } = shown;
  const { collection_id: id, name, description } = collection;
  const csrf = html`<input type="hidden" name="csrf" value="${session?.csrf ?? ''}">`;
  return {
    title: name,
    main: html`<p>${description}</p>${collectionStatePart(words, collection)}
<form class="row" method="post" action="/knowledge/${id}/search" hx-post="/knowledge/${id}/search" hx-target="#found" hx-sync="this:replace">
${csrf}<label>${know.query} <input name="text" type="search" required maxlength="4096" size="48"></label>
${persons.length === 0 ? '' : html`<label>${know.seeAs} <select name="as">${persons.map((person) => html`<option value="${person}" ${person === session?.subject ? html`selected` : ''}>${person}</option>`)}</select></label>`}
<button>${know.search}</button></form>
<div id="found" aria-live="polite"></div>
<section aria-labelledby="documents"><h2 id="documents">${know.documents}</h2>
${isList(documents) ? documentTable(page, documents, mayWrite) : documents}${pageLinks(words, links)}</section>
${mayWrite ? writingSection(page, id) : ''}`,
  };
}

function isList(documents: Parameters<typeof collectionPage>[1]['documents']): documents is readonly StoredDocument[] {
  return Array.isArray(documents);
}

function documentTable(
  { words, language }: PageContext,
  documents: readonly StoredDocument[],
  mayWrite: boolean,
): Markup | Promise<Markup> {
  const { know } = words;
  if (documents.length === 0) {
    return notice({
      kind: 'empty',
      title: know.documentsNone,
      text: mayWrite ? know.documentsNext : know.documentsAsk,
    });
  }
  const row = (one: StoredDocument) =>
    html`<tr><th scope="row">${one.title ?? one.doc_id}<span class="sub">${one.doc_id}</span></th><td class="number">${one.chunk_count}</td><td>${timeOf(language, one.available_at)}</td></tr>`;
  return html`<table><thead><tr><th scope="col">${know.source}</th><th scope="col" class="number">${know.chunks}</th><th scope="col">${words.remember.since}</th></tr></thead><tbody>${documents.map(row)}</tbody></table>`;
}

/** The state of a collection and of its new index. The browser polls this part while the index is being built. */
export function collectionStatePart(words: Words, collection: Collection): Markup | Promise<Markup> {
  const { know } = words;
  const { collection_id: id, status, reindex } = collection;
  const again =
    reindex?.state === 'building'
      ? html`hx-get="/knowledge/${id}/state" hx-trigger="every 2s" hx-swap="outerMorph"`
      : '';
  return html`<div aria-live="polite" ${again}><p>${badge(tones[status], know.states[status])} ${reindex === undefined ? '' : indexState(words, reindex)}</p></div>`;
}

function indexState(words: Words, reindex: NonNullable<Collection['reindex']>): Markup | Promise<Markup> {
  const { know } = words;
  const { state, documents_done: done, documents_total: total, failure } = reindex;
  if (state === 'failed')
    return html`${badge('bad', know.reindexFailed)} ${saidText(words, failure ?? '')} ${know.reindexFailedText}`;
  return html`${badge('wait', `${know.reindexing}: ${done}/${total}`)} <progress max="${Math.max(1, total)}" value="${done}" aria-label="${know.reindexing}"></progress>`;
}

/** Citations as text: no part of a document becomes markup. */
export function citationList(words: Words, citations: readonly Citation[]): Markup | Promise<Markup> {
  const { know } = words;
  if (citations.length === 0) return notice({ kind: 'empty', title: know.foundNone, text: know.foundNoneText });
  const card = ({ title, doc_id: document, heading, content, score }: Citation) =>
    html`<li class="card"><div class="head"><strong>${title ?? document}</strong><span class="sub">${heading ?? ''}</span></div><pre class="text" tabindex="0">${content}</pre><p class="sub">${know.source}: <code>${document}</code> · ${know.score} ${score.toFixed(3)}</p></li>`;
  return html`<h2>${know.found}</h2><ol class="cards">${citations.map(card)}</ol>`;
}

const jobTones = { PENDING: 'wait', RUNNING: 'wait', DONE: 'good', FAILED: 'bad' } as const satisfies Readonly<
  Record<IngestJob['status'], Tone>
>;

/** The progress of one document. The browser polls this part until the job has ended. */
export function jobState(
  words: Words,
  job: {
    readonly id: string;
    readonly document: string;
    readonly status: IngestJob['status'];
    readonly error: string | null;
  },
): Markup | Promise<Markup> {
  const { id, document, status, error } = job;
  const isRunning = status === 'PENDING' || status === 'RUNNING';
  const again = isRunning ? html`hx-get="/knowledge/jobs/${id}" hx-trigger="every 2s" hx-swap="outerMorph"` : '';
  return html`<p ${again}><code>${document}</code> ${badge(jobTones[status], words.know.jobs[status])} ${isRunning ? html`<progress aria-label="${document}"></progress>` : ''}${saidText(words, error ?? '')}</p>`;
}
