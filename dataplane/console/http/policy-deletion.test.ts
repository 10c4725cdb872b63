import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ApiAnswer } from '../clients/call-api.ts';
import { type ManagementApi, noRights } from '../clients/management-api.ts';
import { readRecipes } from '../clients/policy-source.ts';
import type { PageContext } from '../pages/page.ts';
import { sessionRights } from '../sessions/session.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addPolicyRoutes } from './policy-routes.ts';

const id = '01900000-0000-7000-8000-000000000001';
const at = '2026-01-31T09:00:00Z';
const policy = {
  ...{ id, name: 'Chat', description: '', status: 'draft', revision: 3, ruleCount: 1, ruleKinds: [] },
  ...{ createdAt: at, updatedAt: at, definitionDigest: 'a'.repeat(64), definition: {} },
};
/** A person with the role author for this policy, and no right to a model. */
const rights = { ...noRights, policies: [id], viewedPolicies: [id] };
const source = readRecipes().get('secrets') ?? '';
const key = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const busy = { kind: 'refused', status: 429, code: 'rate_limited', message: '' } as const;
const denied = { ...busy, status: 403, code: 'permission_denied' };
const of = (deletingPolicies: readonly string[]): ApiAnswer<unknown> => ({
  kind: 'value',
  value: { mark: '1', models: [], deletingPolicies },
  etag: undefined,
});

/** The pages for this person over an API with this overview; `sent` are the methods of the commands. */
function open(overview: ApiAnswer<unknown>) {
  const sent: string[] = [];
  const call = async (path: string, _schema: unknown, options: { readonly method?: string } = {}) => {
    if (options.method !== undefined) sent.push(options.method);
    const done = { operationId: id, kind: 'policy.update', state: 'succeeded', error: null, target: { id } };
    const read = path.includes('/revisions') ? { items: [policy], nextBeforeRevision: null } : policy;
    return { kind: 'value', value: options.method === undefined ? read : done, etag: '"3"' };
  };
  const ownRights = async () => ({ kind: 'value', value: rights, etag: undefined });
  const session = { subject: 'ann', csrf: '', rights: sessionRights(rights) };
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1', session };
    context.set('page', page as unknown as PageContext);
    context.set('session', session as unknown as ConsoleEnvironment['Variables']['session']);
    context.set('management', { call, ownRights, overview: async () => overview } as unknown as ManagementApi);
    await next();
  });
  addPolicyRoutes(app);
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await app.request(path, init);
    return { status: response.status, text: await response.text() };
  };
  const save = () =>
    send(`/policies/${id}`, { method: 'POST', body: new URLSearchParams({ source, key, etag: '"3"' }) });
  return { send, save, sent };
}

test('the author of one policy sees its deletion in the list and on its page, without a right to a model', async () => {
  const { send } = open(of([id]));
  expect((await send('/policies')).text).toMatch(/class="badge warn">.*Deleting/);
  const { text } = await send(`/policies/${id}`);
  expect([text.includes(en.policyPages.deletingText), text.includes('/edit"')]).toEqual([true, false]);
});

test('a policy that is being deleted has no editor, and a save of an editor that was open sends nothing and keeps the text', async () => {
  const { send, save, sent } = open(of([id]));
  const editor = await send(`/policies/${id}/edit`);
  expect([editor.status, editor.text.includes(en.policyPages.deletingText)]).toEqual([409, true]);
  expect(editor.text).not.toContain('<textarea');
  const saved = await save();
  expect([saved.status, saved.text.includes(en.policyPages.deletingText), sent]).toEqual([409, true, []]);
  expect(saved.text).toContain(`name="key" value="${key}"`);
  expect(saved.text).toContain('<textarea id="source"');
});

test.each([
  ['that names another policy', of([key])],
  ['that the API refuses', denied],
])('a policy beside an overview %s is edited and saved', async (_, overview) => {
  const { send, save, sent } = open(overview);
  expect((await send(`/policies/${id}`)).text).toContain(`/policies/${id}/edit"`);
  expect((await send(`/policies/${id}/edit`)).text).toContain('<textarea id="source"');
  expect([(await save()).status, sent]).toEqual([303, ['PUT']]);
});

test.each([{ kind: 'away' } as const, busy, { ...busy, status: 500, code: 'internal' }])(
  'a policy is neither edited nor saved while it is unknown whether it is being deleted: %o',
  async (overview) => {
    const { send, save, sent } = open(overview);
    const { text } = await send(`/policies/${id}`);
    expect([text.includes('/edit"'), text.includes(en.errors.missing('Used by, Edit, Apply to a model'))]).toEqual([
      false,
      true,
    ]);
    expect((await send(`/policies/${id}/edit`)).status).toBe(503);
    const saved = await save();
    expect([saved.status, saved.text.includes('<textarea id="source"'), sent]).toEqual([503, true, []]);
  },
);
