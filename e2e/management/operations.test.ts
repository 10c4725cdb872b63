import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const operations = '/api/v1/operations';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the list of operations'), () => {
  let world: ManagementWorld;
  const tokens = { author: '', viewer: '', stranger: '' };
  let [policyId, modelId] = ['', ''];

  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 1 });
    for (const subject of ['author', 'viewer', 'stranger'] as const)
      tokens[subject] = await world.api.mint({ subject });
    policyId = (await world.createPolicy('listed')).id;
    modelId = await world.createModel('listed-model');
    await grant('viewer', { role: 'viewer' });
    await grant('author', { role: 'author', policyId });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const grant = (subject: string, right: object) =>
    world.api.call('/api/v1/rights/grant', { method: 'POST', body: { ...right, holder: { issuer, subject } } });
  const list = (query: object = {}, token?: string) =>
    world.api.call(`${operations}?${new URLSearchParams(Object.entries(query))}`, token === undefined ? {} : { token });
  const idsOf = async (query: object = {}, token?: string): Promise<readonly string[]> =>
    (await list(query, token)).json.items.map((one: { readonly operationId: string }) => one.operationId);

  /** Saves the policy as its author; the id of the operation. */
  async function saveAs(token: string): Promise<string> {
    const { policy, etag } = await world.readPolicy(policyId);
    const { name, description, status } = policy;
    const body = { name, description, status, definition: definitionOf(`saved-${policy.revision}`) };
    const path = `/api/v1/guardrail-policies/${policyId}`;
    return (await world.api.ended(await world.api.command('PUT', path, body, { etag, token }))).operationId;
  }

  test('an operation names its author, its object, its request, its outcome, and the reason of a failure', async () => {
    const applied = await world.api.ended(await world.apply(modelId, policyId, 1));
    const failed = await world.api.ended(await world.apply(modelId, policyId, 1, 'unknown-profile'));
    const { items } = (await list({ targetId: modelId })).json;
    const author = { kind: 'token', issuer, subject: 'root-admin', actors: [] };
    const wanted = { policyId, policyName: 'listed', revision: 1 };
    const common = { author, message: null, targetName: 'listed-model', wanted, overridesFreeze: false };
    expect(items).toEqual([
      { ...failed, ...common },
      { ...applied, ...common },
    ]);
    expect(items[0]).toMatchObject({ state: 'failed', error: { code: 'profile_unsupported' } });
    const [created] = (await list({ kind: 'policy.create' })).json.items;
    expect(created).toMatchObject({
      target: { type: 'policy', id: policyId },
      targetName: 'listed',
      state: 'succeeded',
    });
    await world.applied(modelId, null, null);
    expect((await list({ kind: 'binding.unbind' })).json.items[0].wanted).toBe(null);
    expect(await idsOf({ state: 'failed' })).toEqual([failed.operationId]);
    expect(await idsOf({ operationId: applied.operationId })).toEqual([applied.operationId]);
  });

  test('paging through the operations returns each one once, newest first, even while commands are sent', async () => {
    const all = await idsOf({ limit: 100 });
    expect(all).toEqual(all.toSorted().reverse());
    expect(all.length).toBeGreaterThan(3);
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { readonly items: readonly { readonly operationId: string }[]; readonly nextCursor: string | null } =
        (await list({ limit: 1, ...(cursor !== '' && { cursor }) })).json;
      walked.push(...page.items.map(({ operationId }) => operationId));
      cursor = page.nextCursor;
      if (walked.length === 1) await world.createPolicy('created-during-the-walk');
    }
    expect(walked).toEqual(all);
    for (const [query, code] of [
      [{ limit: 0 }, 'invalid_query'],
      [{ limit: 101 }, 'invalid_query'],
      [{ state: 'done' }, 'invalid_query'],
      [{ targetId: 'none' }, 'invalid_query'],
      [{ subject: 'a'.repeat(256) }, 'invalid_query'],
      [{ cursor: 'none' }, 'cursor_invalid'],
    ] as const) {
      const { status, json } = await list(query);
      expect([query, status, json.error.code]).toEqual([query, 400, code]);
    }
    expect((await list({ subject: 'a'.repeat(255), limit: 1 })).status).toBe(200);
  });

  test('a viewer reads the commands of every person, an author of one policy reads only own commands, and a person without a right reads no commands', async () => {
    const own = await saveAs(tokens.author);
    expect(await idsOf({ subject: 'author' }, tokens.viewer)).toEqual([own]);
    expect((await idsOf({}, tokens.viewer)).length).toBeGreaterThan(3);
    expect(await idsOf({}, tokens.author)).toEqual([own]);
    expect(await idsOf({ subject: 'root-admin' }, tokens.author)).toEqual([]);
    expect(await idsOf({}, tokens.stranger)).toEqual([]);
    expect((await world.api.call(operations, { token: null })).status).toBe(401);
    // An agent that acts for the author is another author.
    const acted = await world.api.mint({ subject: 'author', actors: [{ issuer, subject: 'agent' }] });
    expect(await idsOf({}, acted)).toEqual([]);
  });

  test('an operation has the message of its command', async () => {
    const { policy, etag } = await world.readPolicy(policyId);
    const { name, status } = policy;
    const body = { name, status, description: 'noted', definition: definitionOf('noted') };
    const message = 'для отдела <b>"продаж"</b>, \\';
    const headers = { 'x-portcullis-change-message': encodeURIComponent(message) };
    const sent = await world.api.command('PUT', `/api/v1/guardrail-policies/${policyId}`, body, { etag, headers });
    const { operationId } = await world.api.ended(sent);
    expect((await list({ operationId })).json.items[0].message).toBe(message);
  });

  test('a name with quotes and backslashes is found unchanged, and matches nothing else', async () => {
    const subject = 'a","subject":"root-admin\\';
    const token = await world.api.mint({ subject });
    await grant(subject, { role: 'author', policyId });
    const own = await saveAs(token);
    expect(await idsOf({ subject })).toEqual([own]);
    expect(await idsOf({}, token)).toEqual([own]);
    expect(await idsOf({ subject: 'root-admin' })).not.toContain(own);
    const body = { policyId, policyRevision: 1, contentProfile: currentProfile };
    const path = `/api/v1/models/${modelId}/guardrail-binding`;
    expect((await world.api.command('PUT', path, body, { etag: '"never"', token })).status).toBe(403);
  });
});
