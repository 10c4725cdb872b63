import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ManagementApi } from '../clients/management-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import { applyPolicy } from './apply-policy.ts';
import type { ConsoleEnvironment } from './environment.ts';

const policyId = '01900000-0000-7000-8000-000000000001';
const otherId = '01900000-0000-7000-8000-000000000002';
const modelId = '01900000-0000-7000-8000-000000000003';
const value = (one: unknown, etag?: string) => ({ kind: 'value', value: one, etag });
const bindingOf = (id: string | null, revision: number) => ({
  modelId,
  binding: id === null ? null : { policyId: id, policyRevision: revision },
});
const done = { operationId: policyId, kind: 'binding.apply', state: 'running', error: null };
const mismatch = { kind: 'refused', status: 412, code: 'etag_mismatch', message: '' };

/**
 * Sends the form of a page that showed `shown`. `bindings` are the answers about the model, in the order of the
 * requests.
 */
async function apply(
  shown: string | undefined,
  bindings: readonly object[],
  command: object = value(done),
  models: readonly { readonly modelId: string }[] = [],
) {
  const left = [...bindings];
  const sent: (readonly [path: string, etag: unknown])[] = [];
  const call = async (path: string, _schema: unknown, options?: { readonly headers: Record<string, string> }) => {
    if (path.startsWith('/api/v1/guardrail-policies/')) return value({ name: 'Strict <b>' });
    if (options === undefined) return value(left.shift(), `"${bindings.length - left.length}"`);
    sent.push([path, options.headers['if-match']]);
    return command;
  };
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const session = { csrf: 'c', rights: {} };
    context.set('page', {
      words: en,
      language: 'en',
      here: '/',
      has: {},
      session,
      path: '/',
    } as unknown as PageContext);
    context.set('management', { call, overview: async () => value({ models }) } as unknown as ManagementApi);
    await next();
  });
  app.post('/policies/:id/apply', applyPolicy);
  const form = { model: modelId, revision: '3', ...(shown === undefined ? {} : { [`shown.${modelId}`]: shown }) };
  const headers = { 'hx-request': 'true' };
  const answer = await app.request(`/policies/${policyId}/apply`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  });
  return { status: answer.status, text: await answer.text(), sent, to: answer.headers.get('location') };
}

test.each([
  ['a policy', `${policyId}:1`, bindingOf(policyId, 1)],
  ['no policy', 'none', bindingOf(null, 0)],
])(
  'a model that still has %s, as the page showed, gets the revision, on this condition',
  async (_title, shown, binding) => {
    const { sent, to } = await apply(shown, [binding]);
    expect(to).toBe('/overview');
    expect(sent).toEqual([[`/api/v1/models/${modelId}/guardrail-binding`, '"1"']]);
  },
);

test.each([
  ['the last model of the first page', 39, '/overview'],
  ['the first model of the second page', 40, '/overview?models=2'],
])('after an application the overview opens where it has %s', async (_title, before, address) => {
  const others = Array.from({ length: before }, () => ({ modelId: otherId }));
  const { to } = await apply(`${policyId}:1`, [bindingOf(policyId, 1)], value(done), [...others, { modelId }]);
  expect(to).toBe(address);
});

test.each([
  ['another revision', `${policyId}:1`, bindingOf(policyId, 2), `${policyId}:2`],
  ['another policy', `${policyId}:1`, bindingOf(otherId, 1), `${otherId}:1`],
  ['a policy in place of none', 'none', bindingOf(otherId, 1), `${otherId}:1`],
  ['no policy any more', `${policyId}:1`, bindingOf(null, 0), 'none'],
  ['an application that the form does not name', undefined, bindingOf(policyId, 1), `${policyId}:1`],
])(
  'a model with %s is not changed: the page shows it and asks for confirmation again',
  async (_title, shown, binding, now) => {
    const { status, sent, text } = await apply(shown, [binding]);
    expect([status, sent]).toEqual([409, []]);
    expect(text).toContain(`name="shown.${modelId}" value="${now}"`);
    expect(text).toContain('Apply revision 3 in its place');
    expect(text).toContain(now === 'none' ? en.conflicts.modelNone : 'of Strict &lt;b&gt;. Nothing was applied.');
  },
);

test('an application that is made between the read and the command is shown, too', async () => {
  const { status, sent, text } = await apply(
    `${policyId}:1`,
    [bindingOf(policyId, 1), bindingOf(otherId, 7)],
    mismatch,
  );
  expect([status, sent.length]).toEqual([409, 1]);
  expect(text).toContain('It now has revision 7');
  expect(text).toContain(`value="${otherId}:7"`);
});
