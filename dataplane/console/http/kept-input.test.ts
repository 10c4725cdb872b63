import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { Call } from '../clients/call-api.ts';
import type { ManagementApi } from '../clients/management-api.ts';
import { readRecipes } from '../clients/policy-source.ts';
import type { TenantApi } from '../clients/tenant-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addMemoryRoutes } from './memory-routes.ts';
import { addPolicyRoutes } from './policy-routes.ts';

const id = '01900000-0000-7000-8000-000000000001';
const key = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const source = readRecipes().get('secrets') ?? '';

/** Opens the pages over services that return one answer; `keys` are the idempotency keys of the requests. */
function open(answer: unknown) {
  const keys: (string | undefined)[] = [];
  const call = async (_path: string, _schema: unknown, sent?: Call) => {
    keys.push(sent?.headers?.['idempotency-key']);
    return answer;
  };
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1' };
    context.set('page', page as unknown as PageContext);
    context.set('session', { rights: {} } as unknown as ConsoleEnvironment['Variables']['session']);
    context.set('management', { call, ownRights: async () => answer } as unknown as ManagementApi);
    await next();
  });
  addPolicyRoutes(app);
  addMemoryRoutes(app, () => ({ call }) as unknown as TenantApi);
  const post = async (path: string, form: Readonly<Record<string, string>>) => {
    const response = await app.request(path, { method: 'POST', body: new URLSearchParams(form) });
    return { status: response.status, text: await response.text() };
  };
  return { keys, post };
}

const refused = (status: number, code: string) => ({ kind: 'refused', status, code, message: 'm' });
const shownKey = (text: string): string | undefined => /name="key" value="([^"]*)"/.exec(text)?.[1];

test.each(['/policies', `/policies/${id}`])(
  'a form of a policy that is sent to %s twice is one command',
  async (path) => {
    const { keys, post } = open({ kind: 'away' });
    await post(path, { source, key });
    await post(path, { source, key });
    expect(keys).toEqual([key, key]);
  },
);

test.each([
  [{ kind: 'away' }, true],
  [refused(503, 'records_unavailable'), true],
  [refused(500, 'internal_error'), true],
  [refused(504, 'error'), true],
  [refused(409, 'idempotency_conflict'), false],
  [refused(400, 'invalid_definition'), false],
])('after the answer %o to a save, the editor has the same key: %s', async (answer, isSame) => {
  const { text } = await open(answer).post('/policies', { source, key });
  expect(text).toContain('<textarea id="source"');
  expect(shownKey(text)).toMatch(/^[0-9a-f-]{36}$/);
  expect(shownKey(text) === key).toBe(isSame);
});

test('a key that is no UUID is not sent on', async () => {
  const { keys, post } = open({ kind: 'away' });
  await post('/policies', { source, key: 'x\r\ny' });
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
});

test.each([
  [400, 'policy_denied', 422],
  [429, 'rate_limited', 429],
  [503, 'guardrail_unavailable', 503],
])('a correction of a memory that is refused with %d %s is shown again', async (status, code, shown) => {
  const answer = await open(refused(status, code)).post(`/memory/${id}`, { text: 'I drink <tea>.' });
  expect(answer.status).toBe(shown);
  expect(answer.text).toContain('\nI drink &lt;tea&gt;.</textarea>');
});
