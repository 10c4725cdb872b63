import type { Hono } from 'hono';
import { html } from 'hono/html';
import { type ListedOperation, operationPageSchema } from '#contracts/operations';
import type { ApiAnswer } from '../clients/call-api.ts';
import { refusalNotice } from '../pages/notice.ts';
import { mostPolled, operationPolling } from '../pages/operation-polling.ts';
import {
  type OperationPageFilters,
  operationFilterNames,
  operationListPage,
  operationPage,
} from '../pages/operations.ts';
import { answerNotice, answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { readStates } from './read-states.ts';
import { readablePolicies } from './readable-policies.ts';

const operationsPath = '/api/v1/operations';
const idForm = ':id{[0-9a-fA-F-]{36}}';
const isId = /^[0-9a-fA-F-]{36}$/;

/** Adds the pages of operations: the list with filters, one operation, and the states of unfinished operations. */
export function addOperationRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/operations', showOperations);
  app.get(`/operations/${idForm}`, showOperation);
  app.get('/operations/states', showStates);
}

async function showOperations(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const filters = filtersOf(context);
  const cursor = context.req.query('cursor') ?? '';
  const query = new URLSearchParams(Object.entries({ ...filters, cursor }).filter(([, value]) => value !== ''));
  const answer = await context.get('management').call(`${operationsPath}?${query}`, operationPageSchema);
  const isLater = cursor !== '';
  const isReadable = await readablePolicies(context);
  if (answer.kind === 'value')
    return answerPage(context, operationListPage(page, { filters, found: answer.value, isLater, isReadable }));
  // A filter that the API does not take can be corrected in the form.
  if (answer.kind !== 'refused' || answer.status !== 400) {
    return answerRefusal(context, page.words.operationPages.title, answer);
  }
  return answerPage(
    context,
    operationListPage(page, { filters, found: refusalNotice(page.words, answer), isLater, isReadable }),
    400,
  );
}

async function showOperation(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const { gone: title, goneText: text, title: list } = page.words.operationPages;
  const answer = await readOperation(context);
  if (answer.kind !== 'value') return answerRefusal(context, list, answer);
  if (answer.value === undefined)
    return answerNotice(context, 404, { title, text, link: { href: '/operations', label: list } });
  return answerPage(context, operationPage(page, { one: answer.value, isReadable: await readablePolicies(context) }));
}

/** The states of the open operations of a page, and the element that requests those which have not ended again. */
async function showStates(context: ConsoleContext): Promise<Response> {
  const { words } = context.get('page');
  const ids = [...new Set(context.req.queries('id') ?? [])].filter((id) => isId.test(id)).slice(0, mostPolled);
  const turn = Math.max(0, Math.trunc(Number(context.req.query('turn'))) || 0);
  const { parts, open, isSlow } = await readStates(context.get('management'), words, ids);
  // The page shows that its states may be old.
  const headers = isSlow ? { 'hx-trigger': 'unanswered' } : {};
  return context.html(await html`${parts}${operationPolling(open, { turn, isSlow })}`, 200, headers);
}

async function readOperation(context: ConsoleContext): Promise<ApiAnswer<ListedOperation | undefined>> {
  const query = new URLSearchParams({ operationId: context.req.param('id') ?? '' });
  const answer = await context.get('management').call(`${operationsPath}?${query}`, operationPageSchema);
  // A UUID of another version is the id of no operation.
  if (answer.kind === 'refused' && answer.status === 400) return { kind: 'value', value: undefined, etag: undefined };
  return answer.kind === 'value' ? { ...answer, value: answer.value.items[0] } : answer;
}

function filtersOf(context: ConsoleContext): OperationPageFilters {
  const given = operationFilterNames.map((name) => [name, context.req.query(name)?.trim() ?? '']);
  return Object.fromEntries(given) as OperationPageFilters;
}
