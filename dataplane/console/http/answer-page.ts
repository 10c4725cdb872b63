import type { ApiAnswer } from '../clients/call-api.ts';
import { notice, refusalNotice } from '../pages/notice.ts';
import { type ConsolePage, layout } from '../pages/page.ts';
import type { ConsoleContext } from './environment.ts';

type PageStatus = 200 | 400 | 401 | 403 | 404 | 409 | 413 | 422 | 500 | 502 | 503;

export async function answerPage(
  context: ConsoleContext,
  page: ConsolePage,
  status: PageStatus = 200,
): Promise<Response> {
  return context.html(await layout(context.get('page'), page), status);
}

/** A page for an answer of an API that is not a value. */
export function answerRefusal(
  context: ConsoleContext,
  title: string,
  answer: Exclude<ApiAnswer<unknown>, { kind: 'value' }>,
): Promise<Response> {
  const { words } = context.get('page');
  return answerPage(context, { title, main: refusalNotice(words, answer) }, statusOf(answer));
}

export function answerNotice(
  context: ConsoleContext,
  status: PageStatus,
  { title, text, code }: { readonly title: string; readonly text: string; readonly code?: string },
): Promise<Response> {
  const { words } = context.get('page');
  const link = { href: '/', label: words.back };
  const main = notice({ kind: 'error', title, text, link, ...(code === undefined ? {} : { code }) });
  return answerPage(context, { title, main }, status);
}

function statusOf(answer: Exclude<ApiAnswer<unknown>, { kind: 'value' }>): PageStatus {
  if (answer.kind === 'away') return 502;
  const { status } = answer;
  return status === 401 || status === 403 || status === 404 || status === 409 ? status : 422;
}
