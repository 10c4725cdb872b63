import type { Hono } from 'hono';
import {
  deletedMemorySchema,
  erasureSchema,
  foundMemoriesSchema,
  memoryHistorySchema,
  memoryListSchema,
  memoryRecordSchema,
} from '#contracts/memory';
import type { TenantApi } from '../clients/tenant-api.ts';
import { erasedNotice, matchingMemories, memoryHistoryPage, memoryPage, memoryRemovalPage } from '../pages/memory.ts';
import { linksOf } from '../pages/page-links.ts';
import { answerNotice, answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { readForm } from './read-form.ts';

const memories = '/v1/memories';

/** Adds the pages of a person's own memories: search, correction, history, erasure. */
export function addMemoryRoutes(app: Hono<ConsoleEnvironment>, apiOf: (context: ConsoleContext) => TenantApi): void {
  app.get('/memory', async (context) => {
    const page = context.get('page');
    const scope = `page_size=50&user_id=${encodeURIComponent(context.get('session').subject)}`;
    const at = context.req.query('page');
    const older = at === undefined ? '' : `&page_token=${encodeURIComponent(at)}`;
    const answer = await apiOf(context).call(`${memories}?${scope}${older}`, memoryListSchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.memory, answer);
    const { results, next_page_token: next } = answer.value;
    return answerPage(context, memoryPage(page, results, linksOf('/memory', { parameter: 'page', at, next })));
  });

  app.post('/memory/search', async (context) => {
    const page = context.get('page');
    const { text = '' } = await readForm(context);
    const call = { method: 'POST', body: { query: text.trim() } } as const;
    const found = await apiOf(context).call(`${memories}/search`, foundMemoriesSchema, call);
    if (found.kind !== 'value') return answerRefusal(context, page.words.memory, found);
    return answerPage(context, { title: page.words.memory, main: matchingMemories(page, found.value.results) });
  });

  app.get('/memory/:id/history', async (context) => {
    const page = context.get('page');
    const path = `${memories}/${encodeURIComponent(context.req.param('id'))}/history`;
    const answer = await apiOf(context).call(path, memoryHistorySchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.remember.history, answer);
    return answerPage(context, memoryHistoryPage(page, answer.value));
  });

  app.post('/memory/erase', async (context) => {
    const { words } = context.get('page');
    const { subject } = context.get('session');
    const { name } = await readForm(context);
    if (name !== subject) {
      return answerNotice(context, 422, { title: words.remember.erase, text: words.remember.eraseText });
    }
    const call = { method: 'POST', body: { user_id: subject } } as const;
    const answer = await apiOf(context).call('/v1/erasures', erasureSchema, call);
    if (answer.kind !== 'value') return answerRefusal(context, words.memory, answer);
    return answerPage(context, { title: words.memory, main: erasedNotice(words, answer.value) });
  });

  app.post('/memory/:id', async (context) => {
    const { text = '' } = await readForm(context);
    const path = `${memories}/${encodeURIComponent(context.req.param('id'))}`;
    const answer = await apiOf(context).call(path, memoryRecordSchema, { method: 'PUT', body: { text } });
    if (answer.kind !== 'value') return answerRefusal(context, context.get('page').words.memory, answer, [text]);
    return context.redirect('/memory', 303);
  });

  app.get('/memory/:id/delete', async (context) => {
    const page = context.get('page');
    const path = `${memories}/${encodeURIComponent(context.req.param('id'))}`;
    const answer = await apiOf(context).call(path, memoryRecordSchema);
    if (answer.kind !== 'value') return answerRefusal(context, page.words.memory, answer);
    return answerPage(context, memoryRemovalPage(page, answer.value));
  });

  app.post('/memory/:id/delete', async (context) => {
    const path = `${memories}/${encodeURIComponent(context.req.param('id'))}`;
    const answer = await apiOf(context).call(path, deletedMemorySchema, { method: 'DELETE' });
    if (answer.kind !== 'value') return answerRefusal(context, context.get('page').words.memory, answer);
    return context.redirect('/memory', 303);
  });
}
