import { createHash, randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { collectionSchema, ingestJobSchema, queryResponseSchema, submittedSchema } from '#contracts/retrieval';
import { documentListSchema, documentSchema, jobListSchema } from '#contracts/retrieval-documents';
import type { TenantApi } from '../clients/tenant-api.ts';
import { citationList, collectionPage, collectionStatePart, jobState, knowledgePage } from '../pages/knowledge.ts';
import { mostFileBytes, mostFiles, unaddedNotice } from '../pages/knowledge-upload.ts';
import { notice, refusalNotice } from '../pages/notice.ts';
import type { Markup } from '../pages/page.ts';
import { linksOf } from '../pages/page-links.ts';
import { answerPage, answerPart, answerRefusal, answerState } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { readForm } from './read-form.ts';
import { withMissing } from './with-missing.ts';

type KnowledgeRoutes = {
  /** The retrieval service, called for the signed-in person, or in development mode for another person. */
  readonly apiOf: (context: ConsoleContext, as?: string) => TenantApi;
  readonly tenant: string;
  /** Persons of development mode. */
  readonly persons: readonly string[];
};

const collections = '/v1/collections';
/** What the script of the page found out about a file: it is sent without its content, or it is sent a second time. */
const fileNotes = ['', 'again', 'same_name', 'too_large', 'too_many', 'unread'] as const;
type FileNote = (typeof fileNotes)[number];
/** Number of entries on one page of a list. */
const pageSize = 50;
const idForm = ':id{[0-9a-fA-F-]{36}}';

/** Collections: search with citations, upload, reindex. */
export function addKnowledgeRoutes(app: Hono<ConsoleEnvironment>, { apiOf, tenant, persons }: KnowledgeRoutes): void {
  app.get('/knowledge', async (context) => {
    const page = context.get('page');
    const at = context.req.query('page');
    // One entry more than the page shows is read, to know whether there is a next page.
    const query = new URLSearchParams({ limit: String(pageSize + 1), ...(at === undefined ? {} : { after: at }) });
    const answer = await apiOf(context).call(`${collections}?${query}`, z.array(collectionSchema));
    if (answer.kind !== 'value') return answerRefusal(context, page.words.knowledge, answer);
    const shown = answer.value.slice(0, pageSize);
    const next = answer.value.length > pageSize ? (shown.at(-1)?.name ?? null) : null;
    const links = linksOf('/knowledge', { parameter: 'page', at, next });
    return answerPage(context, knowledgePage(page, shown, links));
  });

  app.get('/knowledge/jobs/:job', async (context) => {
    const { words } = context.get('page');
    const id = context.req.param('job');
    const answer = await apiOf(context).call(`/v1/jobs/${encodeURIComponent(id)}`, ingestJobSchema);
    if (answer.kind !== 'value') return answerState(context, answer);
    const { doc_id: document, status, error } = answer.value;
    return context.html(await jobState(words, { id, document, status, error }));
  });

  app.get(`/knowledge/${idForm}`, async (context) => {
    const page = context.get('page');
    const api = apiOf(context);
    const id = context.req.param('id');
    const path = `${collections}/${id}`;
    const at = context.req.query('page');
    const later = at === undefined ? '' : `&page_token=${encodeURIComponent(at)}`;
    const [collection, documents] = await Promise.all([
      api.call(path, collectionSchema),
      api.call(`${path}/documents?limit=${pageSize}${later}`, documentListSchema),
    ]);
    if (collection.kind !== 'value') return answerRefusal(context, page.words.knowledge, collection);
    // The jobs of a collection need the right to write into it, as an upload does.
    const asked = `/v1/jobs?limit=1&collection=${encodeURIComponent(collection.value.name)}`;
    const jobs = await api.call(asked, jobListSchema);
    const mayWrite = jobs.kind === 'value';
    const isRead = documents.kind === 'value';
    const shown = isRead ? documents.value.items : refusalNotice(page.words, documents);
    const next = isRead ? documents.value.next_page_token : null;
    const links = linksOf(`/knowledge/${id}`, { parameter: 'page', at, next });
    const whole = collectionPage(page, { collection: collection.value, documents: shown, links, persons, mayWrite });
    return answerPage(context, withMissing(page.words, whole, [[page.words.know.upload, jobs]]));
  });

  app.get(`/knowledge/${idForm}/state`, async (context) => {
    const { words } = context.get('page');
    const answer = await apiOf(context).call(`${collections}/${context.req.param('id')}`, collectionSchema);
    if (answer.kind !== 'value') return answerState(context, answer);
    return context.html(await collectionStatePart(words, answer.value));
  });

  app.post(`/knowledge/${idForm}/search`, async (context) => {
    const { words } = context.get('page');
    const { text = '', as } = await readForm(context);
    const name = await nameOf(context);
    if (typeof name !== 'string') return answerRefusal(context, words.knowledge, name);
    const asked = as !== undefined && persons.includes(as) ? as : undefined;
    const call = { method: 'POST', body: { collection: name, text } } as const;
    const answer = await apiOf(context, asked).call('/v1/query', queryResponseSchema, call);
    if (answer.kind !== 'value') return answerRefusal(context, name, answer);
    return answerPart(context, {
      title: name,
      part: citationList(words, answer.value.items),
      link: linkTo(context, name),
    });
  });

  app.post(`/knowledge/${idForm}/documents`, async (context) => {
    const { words } = context.get('page');
    const name = await nameOf(context);
    if (typeof name !== 'string') return answerRefusal(context, words.knowledge, name);
    const link = linkTo(context, name);
    const { file, note: given } = await context.req.parseBody({ all: true });
    const note = fileNotes.find((one) => one === given) ?? '';
    const files = [file ?? []].flat().filter((one): one is File => one instanceof File && one.name !== '');
    if (files.length === 0 || files.length > mostFiles || note === 'too_many') {
      const { uploadCount: title, uploadCountText } = words.know;
      const part = notice({ kind: 'error', title, text: uploadCountText(mostFiles) });
      return answerPart(context, { title: name, part, link });
    }
    const states: Markup[] = [];
    const names = new Set<string>();
    // Each file is a separate request: a refused file does not affect the others.
    for (const one of files) {
      states.push(
        await upload(context, { collection: name, file: one, note: names.has(one.name) ? 'same_name' : note }),
      );
      names.add(one.name);
    }
    return answerPart(context, { title: name, part: html`${states}`, link });
  });

  async function upload(
    context: ConsoleContext,
    { collection, file, note }: { readonly collection: string; readonly file: File; readonly note: FileNote },
  ) {
    const { words } = context.get('page');
    const unadded = file.size > mostFileBytes ? 'too_large' : note;
    if (unadded !== '' && unadded !== 'again') return unaddedNotice(words, unadded, file.name);
    const text = readText(Buffer.from(await file.arrayBuffer()));
    if (text === undefined) {
      const { uploadBinary: title, uploadBinaryText } = words.know;
      return notice({ kind: 'error', title, text: uploadBinaryText, code: file.name });
    }
    const document = {
      collection,
      tenant_id: tenant,
      doc_id: file.name,
      content: { title: file.name, sections: [{ text }] },
      acl: { principals: [context.get('session').subject] },
      content_hash: createHash('sha256').update(text).digest('hex'),
      idempotency_key: randomUUID(),
    };
    const call = { method: 'POST', body: { documents: [document] } } as const;
    const path = `${collections}/${context.req.param('id')}/documents/${encodeURIComponent(file.name)}`;
    // A document that was sent a moment ago cannot be read yet: the script of the page has sent it.
    const before = note === 'again' ? undefined : await apiOf(context).call(path, documentSchema);
    const answer = await apiOf(context).call('/v1/documents:submit', submittedSchema, call);
    if (answer.kind !== 'value') return html`<p><code>${file.name}</code></p>${refusalNotice(words, answer)}`;
    const [job] = answer.value.jobs;
    const isSame = job?.status === 'DEDUPLICATED';
    const status = isSame ? 'DONE' : 'PENDING';
    const isReplaced = !isSame && (before === undefined || before.kind === 'value');
    const shown = jobState(words, { id: job?.job_id ?? '', document: file.name, status, error: null });
    return isReplaced
      ? html`${shown}<p class="hint">${words.know.uploadReplaces} <code>${file.name}</code></p>`
      : shown;
  }

  app.post(`/knowledge/${idForm}/reindex`, async (context) => {
    const id = context.req.param('id');
    const call = { method: 'POST', body: {} } as const;
    const answer = await apiOf(context).call(`${collections}/${id}:reindex`, collectionSchema, call);
    if (answer.kind !== 'value') return answerRefusal(context, context.get('page').words.knowledge, answer);
    return context.redirect(`/knowledge/${id}`, 303);
  });

  /**
   * The name of the collection of a search or document; the signed-in person needs the right to read the collection.
   */
  async function nameOf(context: ConsoleContext) {
    const answer = await apiOf(context).call(`${collections}/${context.req.param('id')}`, collectionSchema);
    return answer.kind === 'value' ? answer.value.name : answer;
  }
}

function linkTo(context: ConsoleContext, name: string) {
  return { href: `/knowledge/${context.req.param('id')}`, label: name };
}

/** The text of a file; undefined for bytes that are not UTF-8 text. */
function readText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
