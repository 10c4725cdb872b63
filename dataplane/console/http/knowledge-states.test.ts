import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { TenantApi } from '../clients/tenant-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addKnowledgeRoutes } from './knowledge-routes.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const refused = (status: number, code: string) => ({ kind: 'refused', status, code, message: 'No.' });
const value = (one: object) => ({ kind: 'value', value: one, etag: undefined });

/** The answer of a part that a page requests again, over a retrieval service with this answer. */
async function partOf(path: string, answer: object) {
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    context.set('page', { words: en } as unknown as PageContext);
    await next();
  });
  const api = { call: async () => answer } as unknown as TenantApi;
  addKnowledgeRoutes(app, { apiOf: () => api, tenant: 'default', persons: [] });
  const answered = await app.request(path);
  return { status: answered.status, text: await answered.text(), trigger: answered.headers.get('hx-trigger') };
}

const parts = [
  ['a document that is being read', `/knowledge/jobs/${id}`],
  ['an index that is being built', `/knowledge/${id}/state`],
] as const;
const passing = [
  ['a limit of requests', refused(429, 'rate_limited')],
  ['a service that is not ready', refused(503, 'unavailable')],
  ['a service that does not answer', { kind: 'away' }],
] as const;
const cases = parts.flatMap(([part, path]) => passing.map(([reason, answer]) => ({ part, path, reason, answer })));

test.each(cases)(
  'the state of $part stays on the page after $reason, and is requested again',
  async ({ path, answer }) => {
    const { status, trigger } = await partOf(path, answer);
    expect([status, trigger]).toEqual([204, 'unanswered']);
  },
);

test.each(parts)('a refusal for another reason is shown in the place of the state of %s', async (_title, path) => {
  const { status, text } = await partOf(path, refused(404, 'not_found'));
  expect(status).toBe(200);
  expect(text).toContain('<code>not_found</code>');
  expect(text).not.toContain('hx-get');
});

test('a document that is being read has its state requested until it can be found', async () => {
  const job = { job_id: id, doc_id: 'a.md', error: null };
  const running = await partOf(`/knowledge/jobs/${id}`, value({ ...job, status: 'RUNNING' }));
  expect(running.text).toContain('hx-trigger="every 2s"');
  const done = await partOf(`/knowledge/jobs/${id}`, value({ ...job, status: 'DONE' }));
  expect(done.text).not.toContain('hx-get');
});
