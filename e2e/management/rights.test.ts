import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overviewSchema } from '#contracts/overview';
import { type OwnRights, ownRightsSchema } from '#contracts/rights';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { bindingObject, definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf } from './actions.ts';
import { leaveCommand, replaceOf } from './leave-command.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const policies = '/api/v1/guardrail-policies';
const emergency = 'an-emergency-credential-of-40-characters';

describe.skipIf(missingPostgres !== undefined)(onPostgres('rights to the management API'), () => {
  let world: ManagementWorld;
  const folder = temporaryFolder();
  const breakGlass = join(folder.path, 'break-glass');

  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 2, environment: { PORTCULLIS_BREAK_GLASS_FILE: breakGlass } });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  type Options = { readonly token?: string; readonly replica?: number };
  const change = (verb: 'grant' | 'revoke', body: unknown, options: Options = {}) =>
    world.api.call(`/api/v1/rights/${verb}`, { method: 'POST', body, ...options });
  const statusOf = async (path: string, token: string, replica = 0) =>
    (await world.api.call(path, { token, replica })).status;
  const ownRights = async (token: string): Promise<OwnRights> =>
    ownRightsSchema.parse((await world.api.call('/api/v1/own-rights', { token })).json);
  const create = async (token: string, replica = 0) => {
    const body = { name: `by-role-${uuid()}`, definition: definitionOf('by-role') };
    return (await world.api.command('POST', policies, body, { token, replica })).status;
  };

  test('a granted administrator may command on every replica immediately, and a revoked one never again, even after restarts', async () => {
    const token = await world.api.mint({ subject: 'second' });
    const right = { role: 'administrator', holder: { issuer, subject: 'second' } };
    expect(await create(token)).toBe(403);
    expect((await change('grant', right)).json).toEqual({ right, changed: true });
    expect((await change('grant', right, { replica: 1 })).json.changed).toBe(false);
    expect([await create(token, 0), await create(token, 1)]).toEqual([202, 202]);
    expect((await change('revoke', right, { token, replica: 1 })).json.changed).toBe(true);
    expect([await create(token, 0), await create(token, 1)]).toEqual([403, 403]);
    const setting = `${issuer}|root-admin,${issuer}|second`;
    const notes = (logs: readonly string[]) =>
      logs.flatMap((log) => log.match(/first_administrators_granted|administrators_setting_not_used/g) ?? []);
    expect(notes(world.api.replicas.map((replica) => replica.log()))).toEqual([
      'first_administrators_granted',
      'administrators_setting_not_used',
    ]);
    const { items } = (await world.api.call('/api/v1/audit?order=oldest&limit=1')).json;
    expect([items[0].content.action, items[0].content.author]).toEqual([
      'administrator.grant',
      { kind: 'service', name: 'management' },
    ]);
    for (const replica of world.api.replicas) await replica.end();
    for (const at of [0, 1]) {
      const started = await world.api.startReplica(at, { PORTCULLIS_ADMINISTRATORS: setting });
      expect(notes([started.log()])).toEqual(['administrators_setting_not_used']);
    }
    expect([await create(token, 0), await create(token, 1)]).toEqual([403, 403]);
    expect(await create(await world.api.mint())).toBe(202);
  });

  test('the right of the last administrator is kept, and rights are listed', async () => {
    const right = { role: 'administrator', holder: { issuer, subject: 'root-admin' } };
    const last = await change('revoke', right);
    expect([last.status, last.json.error.code]).toEqual([409, 'last_administrator']);
    expect((await world.api.call('/api/v1/rights')).json.items).toEqual([right]);
    for (const body of [
      { role: 'owner', holder: { issuer, subject: 'x' } },
      { role: 'author', holder: { issuer, subject: 'x' }, modelId: uuid() },
      { role: 'applier', holder: { issuer, subject: 'x' }, policyId: uuid() },
      { role: 'viewer', holder: { subject: 'x' } },
    ]) {
      expect((await change('grant', body)).status).toBe(422);
    }
    const denied = await change('grant', right, { token: await world.api.mint({ subject: 'somebody' }) });
    expect(denied.status).toBe(403);
  });

  test('a group of the token has the rights that its issuer and name were granted', async () => {
    const token = await world.api.mint({ subject: 'member', groups: ['guards', 'others'] });
    const outside = await world.api.mint({ subject: 'member', groups: ['others'] });
    const right = { role: 'administrator', holder: { issuer, group: 'guards' } };
    expect(await create(token)).toBe(403);
    await change('grant', right);
    expect([await create(token), await create(outside)]).toEqual([202, 403]);
    const foreign = { role: 'administrator', holder: { issuer: 'http://other.test', group: 'others' } };
    await change('grant', foreign);
    expect(await create(outside)).toBe(403);
    const acted = await world.api.mint({
      subject: 'root-admin',
      actors: [{ issuer, subject: 'member' }],
      groups: ['guards'],
    });
    expect(await create(acted)).toBe(403);
    expect([(await ownRights(token)).administer, (await ownRights(acted)).administer]).toEqual([true, false]);
    await change('revoke', right);
    await change('revoke', foreign);
    expect(await create(token)).toBe(403);
  });

  test('the emergency credential restores rights, does nothing else, and is in the audit log', async () => {
    const right = { role: 'administrator', holder: { issuer, subject: 'rescued' } };
    expect((await change('grant', right, { token: emergency })).status).toBe(401);
    writeFileSync(breakGlass, emergency.slice(0, 31));
    expect((await change('grant', right, { token: emergency.slice(0, 31) })).status).toBe(401);
    writeFileSync(breakGlass, `${emergency}\n`);
    expect((await change('grant', right, { token: emergency })).json.changed).toBe(true);
    expect(await create(emergency)).toBe(403);
    const listing = await world.api.call(policies, { token: emergency });
    expect(listing.status).toBe(403);
    const { items } = (await world.api.call('/api/v1/audit?action=administrator.grant&limit=1')).json;
    expect(items[0].content.author).toEqual({ kind: 'service', name: 'break-glass' });
    const refused = (await world.api.call('/api/v1/audit?action=policy.create&outcome=refused&limit=1')).json.items[0];
    expect([refused.content.code, refused.content.author.name]).toEqual(['permission_denied', 'break-glass']);
    const lines = world.api.replicas.flatMap((replica) => replica.log().split('\n'));
    const uses = lines.filter((line) => line.includes('break_glass_used')).map((line) => JSON.parse(line));
    const used = (operation: string, isAllowed: boolean) => ({ level: 'error', operation, isAllowed });
    expect(uses).toMatchObject([used('grantRight', true), used('createPolicy', false), used('listPolicies', false)]);
    expect(uses.at(-1).traceId).toBe(listing.json.error.traceId);
    const metrics = await (await fetch(`${world.api.replicas[0]?.ready['admin']}/metrics`)).text();
    expect(metrics).toMatch(/^portcullis_management_break_glass_total\S* 3$/m);
    await change('revoke', right);
    writeFileSync(breakGlass, '');
    expect((await change('grant', right, { token: emergency })).status).toBe(401);
  });

  test('each role permits exactly its operations, for the control plane, one policy or one model', async () => {
    const [own, other] = [(await world.createPolicy('own')).id, (await world.createPolicy('other')).id];
    const [model, otherModel] = [await world.createModel('own-model'), await world.createModel('other-model')];
    const put = (path: string, body: unknown) => async (token: string) =>
      (await world.api.command('PUT', path, body, { etag: '"never"', token })).status !== 403;
    const get = (path: string) => async (token: string) => (await statusOf(path, token)) !== 403;
    const routes: Readonly<Record<string, (token: string) => Promise<boolean>>> = {
      list: get(policies),
      providers: get('/api/v1/guardrail-providers'),
      resources: get('/api/v1/resources/guardrailpolicies'),
      activity: get('/api/v1/activity'),
      counts: get('/api/v1/decision-counts'),
      audit: get('/api/v1/audit'),
      rights: get('/api/v1/rights'),
      create: async (token) => (await create(token)) !== 403,
      readOwn: get(`${policies}/${own}`),
      historyOwn: get(`${policies}/${own}/revisions/1`),
      readOther: get(`${policies}/${other}/revisions`),
      saveOwn: put(`${policies}/${own}`, {}),
      saveOther: put(`${policies}/${other}`, {}),
      bindingOwn: get(`/api/v1/models/${model}/guardrail-binding`),
      bindingOther: get(`/api/v1/models/${otherModel}/guardrail-binding`),
      applyOwn: put(`/api/v1/models/${model}/guardrail-binding`, {}),
      applyOther: put(`/api/v1/models/${otherModel}/guardrail-binding`, {}),
    };
    const everyRead = [
      'list',
      'providers',
      'resources',
      'activity',
      'counts',
      'readOwn',
      'historyOwn',
      'readOther',
      'bindingOwn',
      'bindingOther',
    ];
    const roles: readonly (readonly [object, readonly string[]])[] = [
      [{ role: 'administrator' }, Object.keys(routes)],
      [{ role: 'viewer' }, everyRead],
      [{ role: 'author' }, [...everyRead, 'create', 'saveOwn', 'saveOther']],
      [{ role: 'applier' }, [...everyRead, 'applyOwn', 'applyOther']],
      [{ role: 'viewer', policyId: own }, ['readOwn', 'historyOwn']],
      [{ role: 'author', policyId: own }, ['readOwn', 'historyOwn', 'saveOwn']],
      [{ role: 'viewer', modelId: model }, ['bindingOwn']],
      [{ role: 'applier', modelId: model }, ['bindingOwn', 'applyOwn']],
    ];
    for (const [at, [role, expected]] of roles.entries()) {
      const subject = `role-${at}`;
      const token = await world.api.mint({ subject });
      const none = await Promise.all(Object.values(routes).map((may) => may(token)));
      expect(none.some((one) => one)).toBe(false);
      const nothing = {
        ...{ view: false, author: false, apply: false, administer: false },
        ...{ policies: [], models: [], viewedPolicies: [], viewedModels: [] },
      };
      expect(await ownRights(token)).toEqual(nothing);
      await change('grant', { ...role, holder: { issuer, subject } });
      const may = await Promise.all(
        Object.entries(routes).map(async ([name, ask]) => ((await ask(token)) ? name : '')),
      );
      expect([role, may.filter((name) => name !== '').toSorted()]).toEqual([role, expected.toSorted()]);
      const has = (route: string) => expected.includes(route);
      expect([role, await ownRights(token)]).toEqual([
        role,
        {
          ...{ view: has('list'), author: has('create'), apply: has('applyOther'), administer: has('rights') },
          policies: has('saveOwn') && !has('saveOther') ? [own] : [],
          models: has('applyOwn') && !has('applyOther') ? [model] : [],
          viewedPolicies: has('readOwn') && !has('readOther') ? [own] : [],
          viewedModels: has('bindingOwn') && !has('bindingOther') ? [model] : [],
        },
      ]);
    }
  });

  test('the overview of a person with a right to one model has only that model, and its ETag belongs to this part', async () => {
    const model = await world.createModel('overview-own');
    const right = { role: 'viewer', holder: { issuer, subject: 'reader-of-one' }, modelId: model };
    const token = await world.api.mint({ subject: 'reader-of-one' });
    const read = (after = '') => world.api.call(`/api/v1/overview${after}`, { token });
    expect((await read()).status).toBe(403);
    await change('grant', right);
    const own = await until('the model has settled', async () => {
      const shown = overviewSchema.parse((await read()).json);
      return shown.models.every(({ isWell }) => isWell) ? shown : undefined;
    });
    expect(own.models.map(({ name }) => name)).toEqual(['overview-own']);
    await world.createModel('overview-other');
    const whole = overviewSchema.parse((await world.api.call('/api/v1/overview')).json);
    expect(whole.models.map(({ name }) => name)).toEqual(expect.arrayContaining(['overview-other', 'overview-own']));
    expect(overviewSchema.parse((await read()).json)).toEqual(own);
    await copyModel('overview-own', 'overview-own-copy');
    const copied = await until('the copy conflicts with the model', async () => {
      const { models } = overviewSchema.parse((await world.api.call('/api/v1/overview')).json);
      return models.find(({ name, modelId }) => name === 'overview-own-copy' && modelId === null);
    });
    expect(copied.alias).toBe('overview-own-copy');
    expect(overviewSchema.parse((await read()).json)).toEqual(own);
    expect(whole.mark).not.toBe(own.mark);
    const waiting = read(`?after=${own.mark}`);
    await ownRights(token);
    await change('revoke', right);
    await patchModel('overview-own');
    expect((await waiting).status).toBe(403);
  });

  test('the overview tells the author of one policy whether it is being deleted, and has no model and no other policy', async () => {
    const ids: string[] = [];
    for (const name of ['deleted-own', 'deleted-other']) {
      const { id } = await world.createPolicy(name);
      await world.applied(await world.createModel(`uses-${name}`), id, 1);
      ids.push(id);
    }
    const [own = '', other = ''] = ids;
    const token = await world.api.mint({ subject: 'author-of-deleted' });
    const read = () => world.api.call('/api/v1/overview', { token });
    expect((await read()).status).toBe(403);
    await change('grant', { role: 'author', holder: { issuer, subject: 'author-of-deleted' }, policyId: own });
    expect(overviewSchema.parse((await read()).json)).toMatchObject({ models: [], deletingPolicies: [] });
    for (const id of ids) {
      const name = await policyNameOf(world.client, id);
      const { annotations = {}, uid = '' } = (await world.client.get(kinds.guardrailPolicy, name))?.metadata ?? {};
      const confirmed = { ...annotations, 'portcullis.dev/confirm-deletion': 'true' };
      await world.client.patch(kinds.guardrailPolicy, name, [
        { op: 'add', path: '/metadata/annotations', value: confirmed },
      ]);
      await world.client.delete(kinds.guardrailPolicy, name, { uid });
    }
    await until('both policies are being deleted', async () => {
      const { deletingPolicies } = overviewSchema.parse((await world.api.call('/api/v1/overview')).json);
      return [own, other].every((id) => deletingPolicies.includes(id)) ? true : undefined;
    });
    expect(overviewSchema.parse((await read()).json)).toMatchObject({ models: [], deletingPolicies: [own] });
  });

  test('a model whose alias another one has names that one only to a reader of every model', async () => {
    await world.createModel('alias-owner');
    await until('the owner has its alias', async () =>
      (await world.binding('alias-owner')).status?.conditions?.some(
        ({ type, status }) => type === 'Accepted' && status === 'True',
      ),
    );
    const model = { alias: 'alias-owner', provider: 'echo', upstreamModel: 'echo', state: 'Enabled' } as const;
    const id = await world.createModel('alias-loser', { model });
    const right = { role: 'viewer', holder: { issuer, subject: 'reader-of-loser' }, modelId: id };
    await change('grant', right);
    const token = await world.api.mint({ subject: 'reader-of-loser' });
    const said = async (options: Options) => {
      const { models } = overviewSchema.parse((await world.api.call('/api/v1/overview', options)).json);
      const { cause } = (await world.api.call(`/api/v1/models/${id}/guardrail-binding`, options)).json.observation;
      return [models.find(({ name }) => name === 'alias-loser')?.summary ?? '', cause ?? ''];
    };
    const owner = 'belongs to the binding alias-owner';
    await until('the conflict is shown', async () => (await said({})).every((text) => text.includes(owner)));
    for (const text of await said({ token })) {
      expect(text).toContain('he alias alias-owner of gateway default belongs to another binding');
      expect(text).not.toContain('binding alias-owner');
    }
  });

  /** Applies the binding of a model under another name, with its id label. */
  async function copyModel(name: string, copy: string): Promise<void> {
    const { labels = {} } = (await world.binding(name)).metadata;
    const object = bindingObject(copy, { guardrail: { mode: 'None' } });
    await world.client.create(kinds.modelBinding, { ...object, metadata: { name: copy, labels } });
  }

  /** Changes the state that the overview shows of a model. */
  async function patchModel(name: string): Promise<void> {
    await world.client.patch(kinds.modelBinding, name, [
      { op: 'replace', path: '/spec/model/state', value: 'Disabled' },
    ]);
  }

  test('an author of one policy reads only the operations of own commands', async () => {
    const { id } = await world.createPolicy('authored');
    const token = await world.api.mint({ subject: 'author-of-one' });
    await change('grant', { role: 'author', holder: { issuer, subject: 'author-of-one' }, policyId: id });
    const { policy, etag } = await world.readPolicy(id);
    const body = { name: policy.name, status: 'draft', definition: policy.definition };
    const saved = await world.api.command('PUT', `${policies}/${id}`, body, { etag, token });
    expect(saved.status).toBe(202);
    expect(await statusOf(`/api/v1/operations/${saved.json.operationId}`, token)).toBe(200);
    const another = await world.api.command('POST', policies, { name: 'another', definition: definitionOf('x') });
    expect(await statusOf(`/api/v1/operations/${another.json.operationId}`, token)).toBe(403);
    expect(await statusOf(`/api/v1/operations/${uuid()}`, token)).toBe(403);
  });

  test('an author and a viewer of one policy read the authors of its versions, in pages, and not those of another policy', async () => {
    const { id } = await world.createPolicy('with-authors');
    const other = await world.createPolicy('of-others');
    for (const role of ['author', 'viewer']) {
      await change('grant', { role, holder: { issuer, subject: `history-${role}` }, policyId: id });
    }
    const author = await world.api.mint({ subject: 'history-author' });
    const { policy, etag } = await world.readPolicy(id);
    const body = { name: policy.name, status: 'draft', definition: policy.definition, description: 'second' };
    const headers = { 'x-portcullis-change-message': 'ticket%2012' };
    expect((await world.api.command('PUT', `${policies}/${id}`, body, { etag, token: author, headers })).status).toBe(
      202,
    );
    const viewer = await world.api.mint({ subject: 'history-viewer' });
    const historyOf = (query = '', policyId = id) =>
      world.api.call(`/api/v1/policy-histories/${policyId}${query}`, { token: viewer });
    const newest = await until('the second version is in the history', async () => {
      const page = (await historyOf('?limit=1')).json;
      return page.items[0].revision === 2 ? page : undefined;
    });
    expect(newest).toMatchObject({
      policyId: id,
      items: [{ author: expect.stringContaining('history-author'), message: 'ticket 12', isPurged: false }],
      nextBeforeRevision: 2,
    });
    const { items, nextBeforeRevision } = (await historyOf('?beforeRevision=2')).json;
    expect([items.length, items[0].revision, items[0].message, nextBeforeRevision]).toEqual([1, 1, null, null]);
    expect(items[0].author).toContain('root-admin');
    expect((await world.api.call(`/api/v1/policy-histories/${id}`, { token: author })).status).toBe(200);
    expect((await historyOf('', other.id)).status).toBe(403);
    expect((await world.api.call(`/api/v1/policy-histories/${uuid()}`)).json.error.code).toBe('policy_not_found');
  });

  test('recovery does not execute a command whose author has lost the right', async () => {
    const { id } = await world.createPolicy('left-behind');
    const right = { role: 'author', holder: { issuer, subject: 'leaver' } };
    await change('grant', right);
    const allowed = await replaceOf(world.client, id);
    await leaveCommand(world.api, { ...allowed, subject: 'leaver' });
    expect(await world.api.endOf(allowed.operationId)).toMatchObject({ state: 'succeeded' });
    await change('revoke', right);
    const denied = await replaceOf(world.client, id);
    await leaveCommand(world.api, { ...denied, subject: 'leaver' });
    const end = await world.api.endOf(denied.operationId);
    expect(end).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect(end.error?.message).toContain('lost the right');
    expect((await world.readPolicy(id)).policy.revision).toBe(2);
  });

  test('no command is accepted after the answer of a revocation, while commands and revocations race', async () => {
    const holder = { issuer, subject: 'racer' };
    const token = await world.api.mint({ subject: 'racer' });
    for (let round = 0; round < 5; round++) {
      await change('grant', { role: 'author', holder });
      let isRevoked = false;
      const late: number[] = [];
      const commands = Array.from({ length: 8 }, async (_, at) => {
        for (let count = 0; count < 4; count++) {
          const wasRevoked = isRevoked;
          const status = await create(token, at % 2);
          if (wasRevoked) late.push(status);
        }
      });
      await change('revoke', { role: 'author', holder }, { replica: round % 2 });
      isRevoked = true;
      const { sql } = world.api.database.database;
      const answered = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
      const now = answered.map((row) => row.now.toISOString()).join('');
      await Promise.all(commands);
      const accepted = await sql`
        select from audit.entries where subject = 'racer' and outcome = 'accepted'
          and time > ${now}`;
      expect([late.every((status) => status === 403), accepted.length]).toEqual([true, 0]);
    }
  });
});
