import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ManagementApi } from '../clients/management-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addOperationRoutes } from './operation-routes.ts';

const idOf = (at: number) => `01900000-0000-7000-8000-${String(at).padStart(12, '0')}`;
const modelId = idOf(999);
const operationOf = (operationId: string, state: string) => ({
  ...{ operationId, kind: 'binding.apply', state, target: { type: 'model', id: modelId }, result: null, error: null },
  ...{ createdAt: '2026-01-31T09:00:00Z', updatedAt: '2026-01-31T09:00:00Z' },
});
const value = (one: unknown) => ({ kind: 'value', value: one, etag: undefined });
const refused = (status: number, code: string) => ({ kind: 'refused', status, code, message: '' });
const binding = { operationId: idOf(1), observation: { confirmed: 1, expected: 2 } };

/** The answer to a page that requests the states of `ids`, and its cost; `answerOf` is the management API. */
async function statesOf(ids: readonly string[], answerOf: (path: string) => unknown) {
  const asked: string[] = [];
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const session = { subject: 'ann', csrf: '', rights: {} };
    context.set('page', { words: en, language: 'en', session } as unknown as PageContext);
    const call = async (path: string) => {
      asked.push(path);
      return answerOf(path);
    };
    context.set('management', { call } as unknown as ManagementApi);
    await next();
  });
  addOperationRoutes(app);
  const answer = await app.request(`/operations/states?turn=1&${ids.map((id) => `id=${id}`).join('&')}`);
  return { asked, text: await answer.text(), trigger: answer.headers.get('hx-trigger') };
}

const polled = (text: string) =>
  /hx-get="([^"]*)" hx-trigger="every (\d+)s"/.exec(text.replaceAll('&amp;', '&'))?.slice(1) ?? [];

test('one answer contains the state of each operation, and the page requests only unfinished operations again', async () => {
  const { text, asked, trigger } = await statesOf([idOf(1), idOf(2)], (path) =>
    path.includes('/models/')
      ? value(binding)
      : value(operationOf(path.slice(-36), path.endsWith('1') ? 'running' : 'succeeded')),
  );
  expect(text).toMatch(
    new RegExp(`<div id="state-${idOf(1)}" hx-swap-oob="outerMorph">.*Running.*1 of 2 confirmed`, 's'),
  );
  expect(text).toMatch(new RegExp(`<div id="state-${idOf(2)}" hx-swap-oob="outerMorph">.*Succeeded`, 's'));
  expect(polled(text)).toEqual([`/operations/states?turn=2&id=${idOf(1)}`, '2']);
  expect([asked.length, trigger]).toEqual([3, null]);
});

test('the states of a page cost one read for each operation and one for each model, and no read of the list', async () => {
  const ids = Array.from({ length: 50 }, (_, at) => idOf(at));
  const { asked } = await statesOf(ids, (path) =>
    path.includes('/models/') ? value(binding) : value(operationOf(path.slice(-36), 'running')),
  );
  expect(asked.filter((path) => path.includes('?'))).toEqual([]);
  expect([asked.length, new Set(asked).size]).toEqual([51, 51]);
});

test.each([
  ['a limit of requests', refused(429, 'rate_limited')],
  ['a database that is away', refused(503, 'records_unavailable')],
  ['a service that does not answer', { kind: 'away' }],
])('%s keeps the last state on the page, which is requested again at longer intervals', async (_title, answer) => {
  const whole = await statesOf([idOf(1)], () => answer);
  const ofModel = await statesOf([idOf(1)], (path) =>
    path.includes('/models/') ? answer : value(operationOf(idOf(1), 'running')),
  );
  for (const { text, trigger } of [whole, ofModel]) {
    expect(text).not.toContain(`id="state-${idOf(1)}"`);
    expect(polled(text)).toEqual([`/operations/states?turn=2&id=${idOf(1)}`, '4']);
    expect(trigger).toBe('unanswered');
  }
});

test('a refusal for another reason is shown and not polled again, and after the last operation the page sends no requests', async () => {
  const gone = await statesOf([idOf(1)], () => refused(404, 'operation_not_found'));
  expect(gone.text).toContain('<code>operation_not_found</code>');
  const ended = await statesOf([idOf(1)], () => value(operationOf(idOf(1), 'failed')));
  for (const { text } of [gone, ended]) {
    expect(text).toContain('<div id="polling" hidden></div>');
    expect(text).not.toContain('hx-get');
  }
});

test('a text that is not an id is not sent to the API', async () => {
  const { asked } = await statesOf(['..%2Fagents', idOf(1)], () => ({ kind: 'away' }));
  expect(asked).toEqual([`/api/v1/operations/${idOf(1)}`]);
});
