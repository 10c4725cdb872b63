import type { Hono } from 'hono';
import { bindingReadSchema } from '#contracts/management';
import { type ListedOperation, operationPageSchema } from '#contracts/operations';
import type { ApiAnswer } from '../clients/call-api.ts';
import type { ManagementApi } from '../clients/management-api.ts';
import { refusalNotice } from '../pages/notice.ts';
import {
  type ConfirmedReplicas,
  type OperationPageFilters,
  operationFilterNames,
  operationListPage,
  operationPage,
  operationState,
} from '../pages/operations.ts';
import { answerNotice, answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';

const operationsPath = '/api/v1/operations';
const idForm = ':id{[0-9a-fA-F-]{36}}';

/** Operations: the list with filters, one operation, and the state of one that has not ended. */
export function addOperationRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/operations', showOperations);
  app.get(`/operations/${idForm}`, showOperation);
  app.get(`/operations/${idForm}/state`, showState);
}

async function showOperations(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const filters = filtersOf(context);
  const cursor = context.req.query('cursor') ?? '';
  const query = new URLSearchParams(Object.entries({ ...filters, cursor }).filter(([, value]) => value !== ''));
  const answer = await context.get('management').call(`${operationsPath}?${query}`, operationPageSchema);
  const isLater = cursor !== '';
  if (answer.kind === 'value')
    return answerPage(context, operationListPage(page, { filters, found: answer.value, isLater }));
  // A filter that the API does not take can be corrected in the form.
  if (answer.kind !== 'refused' || answer.status !== 400) {
    return answerRefusal(context, page.words.operationPages.title, answer);
  }
  return answerPage(
    context,
    operationListPage(page, { filters, found: refusalNotice(page.words, answer), isLater }),
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
  return answerPage(context, operationPage(page, answer.value));
}

/** A part of a page that asks for it again until the operation has ended; a service that is away for a while ends nothing. */
async function showState(context: ConsoleContext): Promise<Response> {
  const { words } = context.get('page');
  const answer = await readOperation(context);
  if (answer.kind === 'away') return context.body(null, 204);
  if (answer.kind === 'refused') return context.html(await refusalNotice(words, answer));
  if (answer.value === undefined) return context.html('');
  const progress = await progressOf(context.get('management'), answer.value);
  return context.html(await operationState(words, answer.value, progress));
}

async function readOperation(context: ConsoleContext): Promise<ApiAnswer<ListedOperation | undefined>> {
  const query = new URLSearchParams({ operationId: context.req.param('id') ?? '' });
  const answer = await context.get('management').call(`${operationsPath}?${query}`, operationPageSchema);
  // A UUID of another version is the id of no operation.
  if (answer.kind === 'refused' && answer.status === 400) return { kind: 'value', value: undefined, etag: undefined };
  return answer.kind === 'value' ? { ...answer, value: answer.value.items[0] } : answer;
}

/** Undefined where the operation needs no confirmation of replicas, or the user may not read the model. */
async function progressOf(api: ManagementApi, one: ListedOperation): Promise<ConfirmedReplicas | undefined> {
  if (one.state !== 'running' || one.target.type !== 'model') return undefined;
  const binding = await api.call(`/api/v1/models/${one.target.id}/guardrail-binding`, bindingReadSchema);
  // Another command may have replaced the application of this one.
  if (binding.kind !== 'value' || binding.value.operationId !== one.operationId) return undefined;
  return binding.value.observation;
}

function filtersOf(context: ConsoleContext): OperationPageFilters {
  const given = operationFilterNames.map((name) => [name, context.req.query(name)?.trim() ?? '']);
  return Object.fromEntries(given) as OperationPageFilters;
}
