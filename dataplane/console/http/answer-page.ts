import { html } from 'hono/html';
import type { ApiAnswer } from '../clients/call-api.ts';
import { isPassing } from '../clients/is-passing.ts';
import { type NoticeLink, notice, refusalNotice } from '../pages/notice.ts';
import { type ConsolePage, layout, type Markup } from '../pages/page.ts';
import { typedTexts } from '../pages/typed-text.ts';
import type { ConsoleContext } from './environment.ts';

type Link = { readonly href: string; readonly label: string };
type NoValue = Exclude<ApiAnswer<unknown>, { kind: 'value' }>;
type PageStatus = 200 | 400 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 502 | 503 | 504;

/** A whole page. A request of a script gets its main part, which has a place in the page that the browser shows. */
export async function answerPage(
  context: ConsoleContext,
  page: ConsolePage,
  status: PageStatus = 200,
): Promise<Response> {
  if (isOfScript(context)) return context.html(await page.main, status);
  return context.html(await layout(context.get('page'), page), status);
}

export function isOfScript(context: ConsoleContext): boolean {
  return context.req.header('hx-request') !== undefined;
}

/**
 * The answer to a form whose result the script inserts into the page. A form that is sent without the script gets a
 * page with the result and a link to the page of the form.
 */
export async function answerPart(
  context: ConsoleContext,
  { title, part, link }: { readonly title: string; readonly part: Markup | Promise<Markup>; readonly link: Link },
): Promise<Response> {
  if (isOfScript(context)) return context.html(await part);
  return answerPage(context, { title, main: html`<p><a href="${link.href}">${link.label}</a></p>${part}` });
}

/**
 * The answer to a part of a page that requests its state again. While the service does not answer about it, the part
 * stays unchanged and polls again, and the page shows that it may be outdated.
 */
export async function answerState(context: ConsoleContext, answer: NoValue): Promise<Response> {
  if (isPassing(answer)) return context.body(null, 204, { 'hx-trigger': 'unanswered' });
  return context.html(await refusalNotice(context.get('page').words, answer));
}

/** A page for an answer of an API that is not a value, with the texts that the person has typed. */
export function answerRefusal(
  context: ConsoleContext,
  title: string,
  answer: NoValue,
  typed: readonly string[] = [],
): Promise<Response> {
  const { words } = context.get('page');
  const main = html`${refusalNotice(words, answer)}${typedTexts(words, typed)}`;
  return answerPage(context, { title, main }, statusOf(answer));
}

export function answerNotice(
  context: ConsoleContext,
  status: PageStatus,
  shown: { readonly title: string; readonly text: string; readonly link?: NoticeLink },
): Promise<Response> {
  const { words } = context.get('page');
  const { title, text, link = { href: '/', label: words.back } } = shown;
  const main = notice({ kind: 'error', title, text, link });
  return answerPage(context, { title, main }, status);
}

const keptStatuses = [401, 403, 404, 409, 429, 503, 504] as const;

function statusOf(answer: NoValue): PageStatus {
  if (answer.kind === 'away' || answer.status === 500 || answer.status === 502) return 502;
  return keptStatuses.find((status) => status === answer.status) ?? 422;
}
