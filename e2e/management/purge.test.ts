import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overviewSchema } from '#contracts/overview';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { purgedSpec } from '#resources/purged-revision';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { askingDefinitionOf, definitionOf, policyObject } from '../../operator/testing/objects.ts';
import { revisionsOf } from './actions.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const secret = 'sk-live-4f9a1c77';
const policies = '/api/v1/guardrail-policies';

describe.skipIf(missingPostgres !== undefined)(onPostgres('removal of the text of a version'), () => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 2 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const purge = (id: string, revision: number, options: { readonly token?: string; readonly replica?: number } = {}) =>
    world.api.call(`/api/v1/policy-purges/${id}/${revision}`, { method: 'POST', ...options });

  /** Waits until no process runs the version, and removes its text. */
  const purged = (id: string, revision: number) =>
    until(`the text of version ${revision} is removed`, async () => {
      const answer = await purge(id, revision);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer;
    });

  /** Every place of the installation that holds the text: objects, files of the data directory, rows of commands. */
  async function holders(text: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const kind of Object.values(kinds)) {
      const { items } = await world.client.list(kind);
      for (const item of items)
        if (JSON.stringify(item).includes(text)) found.push(`${kind.kind} ${item.metadata.name}`);
    }
    for (const file of readdirSync(world.environmentDirectory, { recursive: true, encoding: 'utf8' })) {
      const path = join(world.environmentDirectory, file);
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path, 'utf8').includes(text)) {
        found.push(file);
      }
    }
    const rows = await world.api.database.database.sql<{ row: string }[]>`
      select operations::text as row from management.operations`;
    return [...found, ...rows.filter(({ row }) => row.includes(text)).map(() => 'a command')];
  }

  /** Bundles are removed shortly after the workload that ran them. */
  const gone = (text: string) =>
    until(`no place holds ${text}`, async () => {
      const found = await holders(text);
      if (found.length > 0) throw new Error(found.join(', '));
      return true;
    });

  test('a version cannot be purged while it is the newest, is applied or is named, and each use is listed', async () => {
    const { id } = await world.createPolicy('kept', definitionOf('kept-text'));
    const model = await world.createModel('guarded-by-kept');
    await world.applied(model, id, 1);
    const before = await world.objects();
    const refused = await purge(id, 1);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'revision_in_use']);
    const paths = refused.json.error.details.map(({ path }: { readonly path: string }) => path.split('/')[1]);
    expect([...new Set(paths)].toSorted()).toEqual([
      'gatewayroutes',
      'guardrailpolicies',
      'modelbindings',
      'runtimeworkloads',
    ]);
    expect(await world.objects()).toEqual(before);
    expect((await world.api.call(`${policies}/${id}/revisions/1`)).status).toBe(200);
    await world.savePolicy(id, { description: 'second' });
    await world.applied(model, id, 1);
  });

  test('a purge removes the text from resources, bundles and rows, and leaves number, digest and an audit entry', async () => {
    const { id } = await world.createPolicy('leaking', definitionOf(secret));
    const { policy: saved, etag } = await world.readPolicy(id);
    const { name, status, definition } = saved;
    const headers = { 'x-portcullis-change-message': `removes%20${secret}` };
    const body = { name, status, definition, description: `also ${secret}` };
    await world.api.ended(await world.api.command('PUT', `${policies}/${id}`, body, { etag, headers }));
    const model = await world.createModel('guarded-by-leaking');
    await world.applied(model, id, 1);
    await world.savePolicy(id, { description: 'clean', definition: definitionOf('clean') });
    await world.applied(model, id, 3);
    const [first] = await revisionsOf(world.client, id);
    expect((await holders(secret)).length).toBeGreaterThan(1);
    const answer = await purged(id, 1);
    expect(answer.json).toMatchObject({ policyId: id, revision: 1, changed: true, sameDefinition: [2] });
    expect(answer.json.definitionDigest).toBe(first?.spec.definitionDigest);
    expect((await purge(id, 1, { replica: 1 })).json).toEqual({ ...answer.json, changed: false });
    expect((await purged(id, 2)).json).toMatchObject({ changed: true, sameDefinition: [] });
    await gone(secret);
    const [left] = await revisionsOf(world.client, id);
    const { policyId, number, policy, definitionDigest, ruleCount, token } = first?.spec ?? {};
    expect(left?.spec).toMatchObject({ policyId, number, policy, definitionDigest, ruleCount, token, tests: [] });
    const { items } = (await world.api.call(`/api/v1/audit?action=revision.purge&targetId=${id}-1`)).json;
    expect(items).toHaveLength(1);
    expect(items[0].content).toMatchObject({
      outcome: 'accepted',
      author: { kind: 'token', subject: 'root-admin' },
      after: { policyId: id, revision: 1, digest: definitionDigest },
    });
    const listed = (await world.api.call(`${policies}/${id}/revisions`)).json.items;
    expect(listed.map((one: { revision: number; name: string }) => [one.revision, one.name])).toEqual([
      [3, 'leaking'],
      [2, 'purged'],
      [1, 'purged'],
    ]);
  });

  test('a purged version cannot be read, compared, dry run or applied, and nothing is written', async () => {
    const { id } = await world.createPolicy('forgotten', definitionOf('forgotten-text'));
    await world.savePolicy(id, { definition: definitionOf('other') });
    const model = await world.createModel('wants-forgotten');
    await purged(id, 1);
    const before = await world.objects();
    const body = { policyId: id, policyRevision: 1, contentProfile: currentProfile };
    const dryRun = `/api/v1/dry-runs/models/${model}/guardrail-binding`;
    const answers = [
      await world.api.call(`${policies}/${id}/revisions/1`),
      await world.api.call(`/api/v1/policy-diffs/${id}?from=1&to=2`),
      await world.api.call(dryRun, { method: 'POST', body }),
      await world.apply(model, id, 1),
    ];
    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual([
      [410, 'revision_purged'],
      [410, 'revision_purged'],
      [409, 'policy_revision_purged'],
      [409, 'policy_revision_purged'],
    ]);
    expect(await world.objects()).toEqual(before);
    await world.applied(model, id, 2);
  });

  test('a rollback skips a purged version and returns to the previous one', async () => {
    const { id } = await world.createPolicy('returned', definitionOf('returned-1'));
    await world.savePolicy(id, { definition: definitionOf('returned-2') });
    await world.savePolicy(id, { definition: definitionOf('returned-3') });
    const model = await world.createModel('returns');
    for (const revision of [1, 2, 3]) await world.applied(model, id, revision);
    const previous = async () => {
      const { models } = overviewSchema.parse((await world.api.call('/api/v1/overview')).json);
      return models.find(({ modelId }) => modelId === model)?.previous?.revision ?? null;
    };
    expect(await previous()).toBe(2);
    for (const [gone, left] of [
      [2, 1],
      [1, null],
    ] as const) {
      await purged(id, gone);
      await until('the overview knows the purge', async () => (await previous()) !== gone);
      expect(await previous()).toBe(left);
    }
  });

  test('an application of a purged version that bypasses the API fails, and the guardrail stays', async () => {
    const { id } = await world.createPolicy('around', definitionOf('around-text'));
    await world.savePolicy(id, { definition: definitionOf('around-2') });
    const model = await world.createModel('guarded-around');
    await world.applied(model, id, 2);
    await purged(id, 1);
    await world.client.patch(kinds.modelBinding, 'guarded-around', [
      { op: 'replace', path: '/spec/guardrail/policyRef/revision', value: 1 },
    ]);
    const { json } = await world.untilState(model, 'failed');
    expect(json.observation).toMatchObject({ serving: { policyRevision: 2 } });
    expect(json.observation.cause).toMatch(/text of revision 1 of the policy was removed/);
    await gone('around-text');
  });

  test('a purge removes causes that quote the version, from the outcomes of bindings and from commands', async () => {
    const leaking = 'sk-live-5e11c0de';
    const id = uuid();
    // No provider has the name of the rule, so that the cause of the failed application has it.
    const asking = JSON.parse(JSON.stringify(askingDefinitionOf('quoted')).replaceAll('spam', leaking));
    await world.client.create(kinds.guardrailPolicy, {
      ...policyObject('quoted', { definition: asking }),
      metadata: { name: 'quoted', labels: { [idLabel]: id } },
    });
    const isRecorded = async (number: number) => (await world.readPolicy(id)).policy.revision === number;
    await until('the version is recorded', () => isRecorded(1));
    const model = await world.createModel('failed-quoted');
    const failed = await world.api.ended(await world.apply(model, id, 1));
    expect(failed.error?.cause).toContain(leaking);
    await world.client.patch(kinds.guardrailPolicy, 'quoted', [
      { op: 'replace', path: '/spec/definition', value: definitionOf('unquoted') },
    ]);
    await until('the version without the text is recorded', () => isRecorded(2));
    await world.applied(model, id, 2);
    const held = await holders(leaking);
    expect(held).toContain('ModelBinding failed-quoted');
    expect(held).toContain('a command');
    await purged(id, 1);
    await gone(leaking);
    const { json } = await world.api.call(`/api/v1/operations/${failed.operationId}`);
    expect(json.error).toMatchObject({ code: 'provider_unknown', cause: null });
    await until('the binding has no annotation left', async () => {
      const binding = await world.client.get<ModelBinding>(kinds.modelBinding, 'failed-quoted');
      const outcomes = binding?.status?.applications?.map(({ outcome, reason }) => reason ?? outcome) ?? [];
      expect(outcomes).toContain('provider_unknown');
      return binding?.metadata.annotations?.['portcullis.dev/forget-causes'] === undefined;
    });
  });

  test('a purge that bypasses the API is in the audit log once, and one by the API gets no observed entry', async () => {
    const { id } = await world.createPolicy('patched-away', definitionOf('patched-away'));
    await world.savePolicy(id, { definition: definitionOf('patched-2') });
    await world.savePolicy(id, { definition: definitionOf('patched-3') });
    await purged(id, 1);
    const [, second] = await revisionsOf(world.client, id);
    if (second === undefined) throw new Error('the second version is not recorded');
    const value = purgedSpec(second.spec, new Date(0).toISOString());
    await world.client.patch(kinds.policyRevision, second.metadata.name, [{ op: 'replace', path: '/spec', value }]);
    const entriesOf = async (number: number) => {
      const { items } = (await world.api.call(`/api/v1/audit?action=revision.purge&targetId=${id}-${number}`)).json;
      return items.map(({ content }: { readonly content: { readonly outcome: string } }) => content.outcome);
    };
    await until('the second purge is observed', async () => (await entriesOf(2)).length > 0);
    expect([await entriesOf(1), await entriesOf(2)]).toEqual([['accepted'], ['observed']]);
  });

  test('only an administrator purges, and a refusal is in the audit log', async () => {
    const { id } = await world.createPolicy('not-yours', definitionOf('x'));
    await world.savePolicy(id);
    const token = await world.api.mint({ subject: 'writer' });
    for (const role of ['author', 'applier', 'viewer']) {
      const right = { role, holder: { issuer, subject: 'writer' } };
      await world.api.call('/api/v1/rights/grant', { method: 'POST', body: right });
    }
    expect((await purge(id, 1, { token })).status).toBe(403);
    const { items } = (await world.api.call('/api/v1/audit?action=revision.purge&outcome=refused&subject=writer')).json;
    expect(items[0].content).toMatchObject({ code: 'permission_denied', target: { type: 'policy', id } });
    expect((await purge(id, 9)).json.error.code).toBe('revision_not_found');
    expect((await purge('01990000-0000-7000-8000-000000000001', 1)).json.error.code).toBe('policy_not_found');
  });
});
