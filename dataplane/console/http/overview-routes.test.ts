import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ManagementApi } from '../clients/management-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addOverviewRoutes } from './overview-routes.ts';

const overview = (mark: string) => ({
  kind: 'value',
  value: { mark, models: [], deletingPolicies: [] },
  etag: undefined,
});
const refused = (status: number, code: string) => ({ kind: 'refused', status, code, message: 'No.' });

/** Reads the events of the stream of the overview, while the management API returns these answers one after another. */
async function eventsOf(
  answers: readonly object[],
  sent: { readonly query?: string; readonly headers?: Record<string, string> } = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const left = [...answers];
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const session = { expiresAt: Date.now() / 1_000 + 600, rights: { view: true } };
    context.set('page', { words: en, session } as unknown as PageContext);
    context.set('session', session as unknown as ConsoleEnvironment['Variables']['session']);
    context.set('management', { overview: async () => left.shift() } as unknown as ManagementApi);
    await next();
  });
  addOverviewRoutes(app, new AbortController().signal);
  const headers = { 'hx-request': 'true', ...sent.headers };
  const answer = await app.request(`/overview/events${sent.query ?? ''}`, { headers });
  return { status: answer.status, text: await answer.text() };
}

test.each([
  ['a limit of requests', 429, 'rate_limited'],
  ['a service that is not ready', 503, 'records_unavailable'],
])('%s is shown above the last state, and the stream continues until another refusal', async (_title, status, code) => {
  const { text } = await eventsOf([
    overview('1'),
    refused(status, code),
    overview('1'),
    refused(403, 'permission_denied'),
  ]);
  const events = text.split('\n\n').filter((event) => event.startsWith('data:'));
  expect(events.map((event) => [event.includes(code), event.includes(en.noModels)])).toEqual([
    [false, true],
    [true, true],
    [false, true],
  ]);
});

test('a refusal at the beginning is the status of the stream, unless it passes', async () => {
  expect((await eventsOf([refused(403, 'permission_denied')])).status).toBe(403);
  const passing = await eventsOf([refused(429, 'rate_limited'), refused(403, 'permission_denied')]);
  expect([passing.status, passing.text.includes('rate_limited')]).toEqual([200, true]);
});

test.each([
  ['its page', { query: '?shown=1' }],
  ['its last event, whatever its page had', { query: '?shown=0', headers: { 'last-event-id': '1' } }],
])('tables that the browser has from %s are not sent again, and the next change is sent', async (_title, sent) => {
  const end = refused(403, 'permission_denied');
  const same = await eventsOf([overview('1'), end], sent);
  expect(same.text).toBe(':\n\n');
  const changed = await eventsOf([overview('1'), overview('2'), end], sent);
  expect(changed.text).toMatch(/^:\n\ndata: .*\nid: 2\n\n$/s);
  const other = await eventsOf([overview('3'), end], sent);
  expect(other.text).toMatch(/^data: .*\nid: 3\n\n$/s);
});

test('after a notice a browser that connects again gets the tables, even if its page already shows the same tables', async () => {
  const { text } = await eventsOf([overview('1'), refused(429, 'rate_limited'), refused(403, 'permission_denied')], {
    query: '?shown=1',
  });
  const [, id = ''] = /\nid: (.*)\n\n$/.exec(text) ?? [];
  const again = await eventsOf([overview('1'), refused(403, 'permission_denied')], {
    query: '?shown=1',
    headers: { 'last-event-id': id },
  });
  expect(again.text).toMatch(/^data: .*\nid: 1\n\n$/s);
});
