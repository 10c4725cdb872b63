import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { policyListSchema, revisionListSchema } from '#contracts/management';
import { until } from '#kit/testing/until';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { bindingObject, definitionOf, policyObject } from '../../operator/testing/objects.ts';
import { verifies } from '../support/verifies.ts';
import { policyNameOf } from './actions.ts';
import { onResourceServers } from './on-resource-servers.ts';
import type { ManagementWorld } from './open-management-world.ts';

const list = '/api/v1/guardrail-policies';
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Members of a list entry, in the order of the answer. */
const entryMembers = [
  'id',
  'name',
  'description',
  'revision',
  'status',
  'definitionDigest',
  'ruleCount',
  'ruleKinds',
  'createdAt',
  'updatedAt',
];

onResourceServers('the lifecycle of a policy', (openWorld) => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await openWorld({ replicas: 2 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** The list comes from the watch cache, which may lag behind a command. */
  async function revisionsOf(id: string) {
    const newest = (await world.readPolicy(id)).policy.revision;
    return until(`revision ${newest} is listed`, async () => {
      const { items } = (await world.api.call(`${list}/${id}/revisions?limit=50`)).json;
      return items[0]?.revision === newest ? items : undefined;
    });
  }
  const revision = (id: string, number: number) => world.api.call(`${list}/${id}/revisions/${number}`);

  verifies(
    [
      'management:policy-create:first-version',
      'management:policy-detail:fields',
      'management:policy-detail:etag',
      'management:command:wait-then-reread',
      'management:command:operation-representation',
      'management:operation-get:status',
      'management:revision:positive-integer',
      'management:resource-id:uuidv7',
    ],
    'a POST creates a policy with its first revision, and every id is a UUID of version 7',
    async () => {
      const answer = await world.api.command('POST', list, { name: 'first', definition: definitionOf('one') });
      expect(answer.status).toBe(202);
      const { operationId } = answer.json;
      expect(answer.headers['location']).toBe(`/api/v1/operations/${operationId}`);
      expect(answer.json).toEqual({
        operationId,
        kind: 'policy.create',
        state: 'pending',
        target: { type: 'policy', id: expect.stringMatching(/-7[0-9a-f]{3}-/) },
        result: null,
        error: null,
        createdAt: answer.json.updatedAt,
        updatedAt: answer.json.createdAt,
      });
      expect(operationId).toMatch(uuidv7);
      const operation = await world.api.ended(answer);
      const { id } = operation.target;
      expect(id).toMatch(uuidv7);
      // The operator gives every model its id.
      await world.client.create(kinds.modelBinding, bindingObject('identified', { guardrail: { mode: 'None' } }));
      const modelId = await until('the model has its id', async () => {
        return (await world.binding('identified')).metadata.labels?.[idLabel];
      });
      expect(modelId).toMatch(uuidv7);
      expect((await world.readBinding(modelId)).json.modelId).toBe(modelId);
      expect(operation).toMatchObject({ state: 'succeeded', result: { policyId: id, revision: 1 }, error: null });
      const read = await world.api.call(`${list}/${id}`);
      expect(read.headers['etag']).toMatch(/^"[\x21\x23-\x7e]+"$/);
      expect(Object.keys(read.json)).toEqual([...entryMembers, 'definition']);
      expect(read.json).toEqual({
        id,
        name: 'first',
        description: '',
        revision: 1,
        status: 'draft',
        definitionDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        ruleCount: 2,
        ruleKinds: ['stop_list'],
        createdAt: expect.stringMatching(instant),
        updatedAt: expect.stringMatching(instant),
        definition: definitionOf('one'),
      });
      expect(await revisionsOf(id)).toHaveLength(1);
      expect((await world.api.call(`${list}/${id}`, { replica: 1 })).text).toBe(read.text);
    },
  );

  verifies(
    [
      'management:save:creates-version',
      'management:put:new-revision',
      'management:put:status-only',
      'management:put:same-content',
      'management:policy-put:202',
      'management:policy-get:latest',
      'management:revision:unchanged',
      'management:definition-digest:of-definition',
    ],
    'every PUT of a policy creates the next revision, and no revision changes by a PUT, an application or a rollback',
    async () => {
      const { id, etag } = await world.createPolicy('history');
      const first = await revision(id, 1);
      expect(await world.savePolicy(id)).toBe(2);
      expect(await world.savePolicy(id, { status: 'archived' })).toBe(3);
      expect(await world.savePolicy(id, { status: 'draft', definition: definitionOf('another') })).toBe(4);
      const fourth = await revision(id, 4);
      const latest = await world.readPolicy(id);
      expect(latest.policy).toMatchObject({ revision: 4, status: 'draft', definition: definitionOf('another') });
      expect(latest.etag).not.toBe(etag);
      const all = await revisionsOf(id);
      expect(all.map((entry: { revision: number }) => entry.revision)).toEqual([4, 3, 2, 1]);
      const digests = all.map((entry: { definitionDigest: string }) => entry.definitionDigest);
      expect(digests).toEqual([
        digestOf(definitionOf('another')),
        ...Array.from({ length: 3 }, () => digestOf(definitionOf('portal'))),
      ]);
      const modelId = await world.createModel('history-model');
      await world.applied(modelId, id, 1);
      await world.applied(modelId, id, 4);
      await world.applied(modelId, id, 1);
      expect((await revision(id, 1)).text).toBe(first.text);
      expect((await revision(id, 4)).text).toBe(fourth.text);
      expect((await world.api.call(`${list}/${id}/revisions/1`, { replica: 1 })).text).toBe(first.text);
    },
  );

  verifies(
    [
      'management:archive:keeps-history',
      'management:archive:restored-by-draft',
      'management:archive:new-application-refused',
    ],
    'an archived policy keeps its history, refuses an application with 409, and a draft restores it',
    async () => {
      const { id } = await world.createPolicy('shelf');
      const modelId = await world.createModel('shelf-model');
      await world.savePolicy(id, { status: 'archived' });
      for (const number of [1, 2]) expect((await revision(id, number)).status).toBe(200);
      const before = await world.readBinding(modelId);
      const refused = await world.apply(modelId, id, 1);
      expect([refused.status, refused.json.error.code]).toEqual([409, 'policy_archived']);
      const after = await world.readBinding(modelId);
      expect([after.headers['etag'], after.json.binding]).toEqual([before.headers['etag'], before.json.binding]);
      expect(await world.savePolicy(id, { status: 'draft' })).toBe(3);
      expect((await world.applied(modelId, id, 3)).json.state).toBe('applied');
    },
  );

  verifies(
    ['management:status:draft-never-active', 'management:status:applied-state-in-binding'],
    'an applied policy is read as draft, and its reads show no application state',
    async () => {
      const { id } = await world.createPolicy('draft-forever');
      const modelId = await world.createModel('draft-model');
      const before = await world.api.call(`${list}/${id}`);
      expect((await world.applied(modelId, id, 1)).json.state).toBe('applied');
      const after = await world.api.call(`${list}/${id}`);
      expect([after.text, after.headers['etag']]).toEqual([before.text, before.headers['etag']]);
      expect(after.json.status).toBe('draft');
      const texts = [after.text, (await revision(id, 1)).text, JSON.stringify(await revisionsOf(id))];
      for (const text of texts) expect(text).not.toMatch(/applied|pending|active/);
    },
  );

  verifies(
    ['management:delete:no-hard-delete', 'management:policy-put:no-partial-update'],
    'DELETE and PATCH are refused with 405, and a PUT with missing members with 422',
    async () => {
      const { id } = await world.createPolicy('lasting');
      for (const path of [`${list}/${id}`, `${list}/${id}/revisions/1`, `${list}/${id}/revisions`, list]) {
        for (const method of ['DELETE', 'PATCH']) {
          const answer = await world.api.call(path, { method, body: { name: 'other' } });
          expect([path, method, answer.status]).toEqual([path, method, 405]);
          expect(answer.headers['allow']).not.toContain(method);
        }
      }
      const { policy, etag } = await world.readPolicy(id);
      const { name, status } = policy;
      const partial = await world.api.command('PUT', `${list}/${id}`, { name, status }, { etag });
      expect(partial.status).toBe(422);
      expect(await world.readPolicy(id)).toEqual({ policy, etag });
      expect((await revision(id, 1)).status).toBe(200);
    },
  );

  verifies(
    [
      'management:policy-list:get',
      'management:policy-list:fields',
      'management:policy-list:no-definition',
      'management:policy-list:limit',
      'management:policy-list:limit-default',
      'management:policy-list:cursor',
      'management:limit:page-size',
      'management:revisions:limit',
    ],
    'a policy list has pages of 1 to 50, 20 by default, and a walk visits each policy once',
    async () => {
      for (let count = 0; count < 24; count++) await world.createPolicy(`listed-${count}`);
      const total = (await world.client.list<GuardrailPolicy>(kinds.guardrailPolicy)).items.length;
      const some = (await world.createPolicy('revised')).id;
      for (let count = 0; count < 2; count++) await world.savePolicy(some);
      for (const path of [list, `${list}/${some}/revisions`]) {
        for (const limit of [1, 50]) expect((await world.api.call(`${path}?limit=${limit}`)).status).toBe(200);
        for (const limit of ['0', '51', '-1', '1.5', 'ten', '', '01', '1e1', '%2B1']) {
          const answer = await world.api.call(`${path}?limit=${limit}`);
          expect([limit, answer.status, answer.json.error?.code]).toEqual([limit, 400, 'invalid_query']);
        }
        expect((await world.api.call(`${path}?limit=1&limit=1`)).status).toBe(400);
        expect((await world.api.call(`${path}?limits=1`)).status).toBe(400);
      }
      const first = await world.api.call(list);
      expect(policyListSchema.parse(first.json).items).toHaveLength(20);
      for (const entry of first.json.items) expect(Object.keys(entry)).toEqual(entryMembers);
      const seen: string[] = [];
      let path = `${list}?limit=7`;
      for (let page = 0; path !== ''; page++) {
        const { json } = await world.api.call(path, { replica: page % 2 });
        seen.push(...json.items.map((entry: { id: string }) => entry.id));
        if (page === 1) await world.createPolicy('created-during-the-walk');
        path = json.nextCursor === null ? '' : `${list}?limit=7&cursor=${json.nextCursor}`;
      }
      expect(seen).toHaveLength(total + 1);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.toSorted().reverse()).toEqual(seen);
    },
  );

  test('a cursor that the policy list did not return is refused with 400', async () => {
    for (const cursor of [
      '',
      'x',
      'bm9uZQ',
      '%00',
      'a'.repeat(300),
      Buffer.from('["guardrail-policies/v1","x"]').toString('base64url'),
    ]) {
      const answer = await world.api.call(`${list}?cursor=${cursor}`);
      expect([cursor, answer.status, answer.json.error.code]).toEqual([cursor, 400, 'cursor_invalid']);
    }
  });

  verifies(
    ['management:revisions:get', 'management:revisions:before-revision', 'management:revision-get:one'],
    'revisions of a policy are listed newest first, from beforeRevision downwards, and can be read one at a time',
    async () => {
      const { id } = await world.createPolicy('many');
      for (let count = 0; count < 24; count++) await world.savePolicy(id, { description: `version ${count + 2}` });
      const page = async (query: string) =>
        revisionListSchema.parse((await world.api.call(`${list}/${id}/revisions${query}`)).json);
      await revisionsOf(id);
      const first = await page('');
      expect(first.items.map((entry) => entry.revision)).toEqual(Array.from({ length: 20 }, (_, at) => 25 - at));
      expect(first.nextBeforeRevision).toBe(6);
      const second = await page(`?beforeRevision=${first.nextBeforeRevision}`);
      expect(second.items.map((entry) => entry.revision)).toEqual([5, 4, 3, 2, 1]);
      expect(second.nextBeforeRevision).toBeNull();
      expect((await page('?beforeRevision=1')).items).toEqual([]);
      expect((await page('?beforeRevision=2147483648')).items).toEqual(first.items);
      for (const wrong of ['0', '-1', '1.5', 'x', '', '01']) {
        const answer = await world.api.call(`${list}/${id}/revisions?beforeRevision=${wrong}`);
        expect([wrong, answer.status]).toEqual([wrong, 400]);
      }
      const one = await revision(id, 7);
      expect(one.json).toMatchObject({ id, revision: 7, description: 'version 7' });
      const { definition: _definition, ...summary } = one.json;
      expect(second.items.length + first.items.length).toBe(25);
      expect(first.items.find((entry) => entry.revision === 7)).toEqual(summary);
    },
  );

  verifies(
    [
      'management:save:expression-compilation',
      'management:save:provider-availability',
      'management:save:no-request-effect',
    ],
    'saving a policy checks its structure only, and the answers claim no effect on traffic',
    async () => {
      const broken = {
        deadlineMs: 500,
        additional: [],
        baseline: [
          {
            id: 'broken',
            kind: 'regex',
            timeoutMs: 100,
            action: { type: 'deny' },
            regex: { engine: 're2-1.1.20251105', pattern: '(unclosed', caseSensitive: true },
          },
          {
            id: 'away',
            kind: 'external_pipeline',
            timeoutMs: 100,
            action: { type: 'deny' },
            externalPipeline: { provider: 'unreachable', contract: 'platform.guardrail-runtime.detector/v1' },
          },
        ],
      };
      const providers = [{ name: 'unreachable', credentialRef: { name: 'none' } }];
      const definition = { ...definitionOf('x'), request: broken, providers };
      const accepted = await world.api.command('POST', list, { name: 'structure', definition });
      const operation = await world.api.ended(accepted);
      expect(operation.state).toBe('succeeded');
      const read = await world.api.call(`${list}/${operation.target.id}`);
      expect(read.json.definition).toEqual(definition);
      for (const text of [accepted.text, read.text]) expect(text).not.toMatch(/protect|applied|enforced|active/i);
    },
  );

  test('a policy that kubectl created can be read and replaced, and a PUT keeps its tests', async () => {
    const tests = [
      {
        name: 'stays',
        stage: 'request' as const,
        messages: [{ role: 'user', content: 'hello' }],
        expect: 'Pass' as const,
      },
    ];
    await world.client.create(kinds.guardrailPolicy, policyObject('by-hand', { tests }));
    const id = await until('the policy has its id', async () => {
      const found = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'by-hand');
      return found?.metadata.labels?.[idLabel];
    });
    expect((await world.readPolicy(id)).policy).toMatchObject({ id, name: 'by-hand', revision: 1 });
    expect(await world.savePolicy(id, { name: 'renamed' })).toBe(2);
    const stored = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'by-hand');
    expect(stored?.spec).toMatchObject({ displayName: 'renamed', tests });
    const edited = await world.client.patch<GuardrailPolicy>(kinds.guardrailPolicy, 'by-hand', [
      { op: 'replace', path: '/spec/description', value: 'edited by hand' },
    ]);
    const { policy, etag } = await world.readPolicy(id);
    expect(policy).toMatchObject({ revision: 3, description: 'edited by hand' });
    expect(etag).toContain(`.${edited.metadata.generation}"`);
    expect(await world.savePolicy(id)).toBe(4);
  });

  test('a new policy is a resource named after its display name, with the end of its id if that name is taken', async () => {
    const nameOf = async (displayName: string) => {
      const { id } = await world.createPolicy(displayName);
      return { id, name: await policyNameOf(world.client, id) };
    };
    const first = await nameOf('Readable_Name');
    expect(first.name).toBe('readable-name');
    const second = await nameOf('Readable_Name');
    expect(second.name).toBe(`readable-name-${second.id.slice(-8)}`);
    const both = await Promise.all(['at-once', 'at-once'].map(nameOf));
    expect(new Set(both.map(({ name }) => name)).size).toBe(2);
  });

  test('a deleted policy is answered with 404, its history can be read, and it cannot be applied', async () => {
    const { id } = await world.createPolicy('leaving');
    const name = await policyNameOf(world.client, id);
    const object = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    await world.client.delete(kinds.guardrailPolicy, name, { uid: object?.metadata.uid ?? '' });
    await until('the policy is deleted', async () => (await world.api.call(`${list}/${id}`)).status === 404);
    expect((await world.api.call(`${list}/${id}/revisions`)).json.items).toHaveLength(1);
    expect((await revision(id, 1)).status).toBe(200);
    const modelId = await world.createModel('left-alone');
    const refused = await world.apply(modelId, id, 1);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'policy_revision_unknown']);
  });
});
