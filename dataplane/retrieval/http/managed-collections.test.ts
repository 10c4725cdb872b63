import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval, startRetrieval } from '../testing/start-retrieval.ts';

const token = 'the-service-token';
const ann = { user: 'ann', groups: ['staff'] };
const owner = { issuer: 'development:acme', subject: 'ann' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('collections of resources'), () => {
  const folder = temporaryFolder();
  let database: TestDatabase;
  let service: OpenedRetrieval;

  beforeAll(async () => {
    const tokenFile = join(folder.path, 'token');
    writeFileSync(tokenFile, token);
    const internal = { listen: { host: '127.0.0.1', port: 0 }, tokenFile };
    database = await openTestDatabase();
    service = await startRetrieval(database, { config: { internal } });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  async function send(method: 'PUT' | 'DELETE', id: string, body: object | string, bearer = token) {
    const path = `${service.internalUrl}/internal/tenants/acme/collections/${id}`;
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const answer =
      typeof body === 'string'
        ? await fetch(`${path}?manager=${body}`, { method, headers })
        : await fetch(path, { method, headers, body: JSON.stringify(body) });
    return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, unknown>> };
  }

  const declared = (id: string, collection: object = {}, more: object = {}) => ({
    manager: id,
    owner,
    adopt: false,
    collection: { name: `of-${id.slice(0, 8)}`, embedding_profile_id: 'test-profile', ...collection },
    ...more,
  });

  const closed = (id: string, collection: object = {}, more: object = {}) =>
    declared(id, { visibility: 'private', ...collection }, more);

  async function takenName(): Promise<string> {
    const other = randomUUID();
    expect((await send('PUT', other, declared(other))).status).toBe(200);
    return `of-${other.slice(0, 8)}`;
  }

  /** Creates the tenth level of a tree, below which no collection is allowed. */
  async function lowest(): Promise<string> {
    let above: string | null = null;
    for (let level = 1; level <= 10; level += 1) {
      const id = randomUUID();
      expect((await send('PUT', id, { ...declared(id), parent_id: above })).status).toBe(200);
      above = id;
    }
    return above ?? '';
  }

  /** Outcome and code of each entry about a change of a collection, oldest first. */
  async function updatesOf(id: string) {
    const log = await openPostgresAudit(database.database, 'retrieval');
    const { entries } = await log.read({ filter: {}, order: 'newest', limit: 500 });
    return entries
      .flatMap(({ content: { action, target, outcome, code } }) =>
        action === 'collection.update' && target?.id === id ? [[outcome, code]] : [],
      )
      .toReversed();
  }

  test('only users who may write the collection see the cause of a failed reindex', async () => {
    const body = { name: 'failing', visibility: 'public', embedding_profile_id: 'test-profile' };
    const id = String((await service.call(ann, '/v1/collections', body)).json['collection_id']);
    await database.database.sql`
      insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state, failure_code, failure, ended_at)
      values (${id}, 2, 'other-profile', 'failed', 'denied', 'the policy for documents denies the text', now())`;
    const seenBy = async (caller: { readonly user: string }) => {
      const one = (await service.call(caller, `/v1/collections/${id}`)).json;
      const all = (await service.call(caller, '/v1/collections')).json as unknown as readonly Record<string, unknown>[];
      return [one['reindex'], all.find((other) => other['collection_id'] === id)?.['reindex']];
    };
    const failed = { version: 2, state: 'failed' };
    const shown = { ...failed, failure: 'the policy for documents denies the text' };
    const hidden = { ...failed, failure: null };
    expect(await seenBy(ann)).toMatchObject([shown, shown]);
    expect(await seenBy({ user: 'bob' })).toMatchObject([hidden, hidden]);
  });

  test('a collection of a resource is created once, has its declared owner, and is changed in its mutable members', async () => {
    const id = randomUUID();
    const first = await send('PUT', id, declared(id));
    expect(first).toMatchObject({ status: 200, json: { collection: { collection_id: id, description: '' } } });
    const again = await send('PUT', id, declared(id));
    expect(again.json).toEqual(first.json);
    const changed = await send('PUT', id, declared(id, { description: 'of the house', visibility: 'public' }));
    expect(changed.json).toMatchObject({ collection: { description: 'of the house', visibility: 'public' } });
    const grants = await service.call(ann, `/v1/collections/${id}/grants`);
    expect(grants.status).toBe(200);
  });

  test('the answer about a collection of a resource names the detectors for which its documents wait, at most 8', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id));
    const names = Array.from({ length: 9 }, (_, at) => `d${at}`);
    await service.ingest(
      ann,
      names.map((name) => documentOf(id, name, 'text')),
    );
    const waits = (most: number) => database.database.sql`
      update retrieval.jobs set status = 'RUNNING', due_at = clock_timestamp() + interval '1 hour', available_at = null,
        failing_provider = jsonb_build_object('rule', doc_id, 'provider', 'presidio', 'cause', 'timeout')
      where collection_id = ${id} and doc_id in ${database.database.sql(names.slice(0, most))}`;
    await waits(1);
    const failing = { provider: 'presidio', cause: 'timeout' };
    expect((await send('PUT', id, declared(id))).json['failing_providers']).toEqual([{ rule: 'd0', ...failing }]);
    await waits(9);
    expect((await send('PUT', id, declared(id))).json['failing_providers']).toHaveLength(8);
  });

  test('a collection of a resource is neither deleted nor given another profile over HTTP; its profile is rebuilt', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id, { embedding_profile_id: 'other-profile' }));
    const path = `/v1/collections/${id}:reindex`;
    expect((await service.call(ann, path, { embedding_profile_id: 'test-profile' })).status).toBe(409);
    expect((await service.call(ann, path, {})).status).toBe(202);
    expect((await service.send(ann, 'DELETE', `/v1/collections/${id}`)).status).toBe(409);
    expect((await service.call(ann, `/v1/collections/${id}`)).status).toBe(200);
  });

  test('another profile of a resource starts one reindex, and a repeated request starts no reindex', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id));
    const other = declared(id, { embedding_profile_id: 'other-profile' });
    const begun = await send('PUT', id, other);
    expect(begun.status).toBe(200);
    const { collection } = begun.json as { collection: { active_version: number; reindex?: { version: number } } };
    expect(collection.reindex?.version ?? collection.active_version).toBe(2);
    const switched = await until('the new version is active', async () => {
      const now = (await send('PUT', id, other)).json as { collection: { active_version: number } };
      return now.collection.active_version > 1 ? now.collection : undefined;
    });
    expect(switched).toMatchObject({ active_version: 2, embedding_profile_id: 'other-profile' });
  });

  test('a profile of a resource with longer vectors than the index has room for is a conflict, and only the other members are changed', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id));
    await database.database.sql`
      update retrieval.collections set text_bytes = ${64 * 1_048_576} where collection_id = ${id}`;
    const refused = await send(
      'PUT',
      id,
      declared(id, { embedding_profile_id: 'long-profile', description: 'longer' }),
    );
    const kept = (await service.call(ann, `/v1/collections/${id}`)).json;
    expect(kept).toMatchObject({ description: 'longer', embedding_profile_id: 'test-profile', active_version: 1 });
    expect(kept['reindex']).toBeUndefined();
    expect(refused).toMatchObject({ status: 409, json: { code: 'conflict' } });
    expect(refused.json['message']).toContain('the index has no room for the longer vectors of the profile');
    const { json } = await send('PUT', id, declared(id));
    expect(json).toMatchObject({ collection: { description: '', embedding_profile_id: 'test-profile' } });
    await database.database.sql`update retrieval.collections set text_bytes = 0 where collection_id = ${id}`;
    const begun = await send('PUT', id, declared(id, { embedding_profile_id: 'long-profile' }));
    expect(begun.status).toBe(200);
  });

  test.each([
    ['is no longer approved', 'removed-profile', 400],
    ['has no room', 'long-profile', 409],
  ])('a collection of a resource whose profile %s is closed to readers as declared', async (_, profile, status) => {
    const { sql } = database.database;
    const id = randomUUID();
    const read = async () => (await service.call({ user: 'bob' }, `/v1/collections/${id}`)).status;
    const shown = async () => (await service.call(ann, `/v1/collections/${id}`)).json;
    await send('PUT', id, declared(id, { visibility: 'public' }));
    if (status === 400) {
      await sql`update retrieval.collections set embedding_profile_id = ${profile} where collection_id = ${id}`;
    } else {
      await sql`update retrieval.collections set text_bytes = ${64 * 1_048_576} where collection_id = ${id}`;
    }
    expect(await read()).toBe(200);
    const wanted = { visibility: 'private', embedding_profile_id: profile };
    const [parent, other] = [randomUUID(), randomUUID()];
    await send('PUT', parent, declared(parent));
    const refused = await send('PUT', id, { ...declared(id, wanted), parent_id: parent });
    expect([refused.status, refused.json['message']]).toEqual([status, expect.stringContaining('profile')]);
    expect(await read()).toBe(403);
    expect(await shown()).toMatchObject({ visibility: 'private', parent_id: parent, active_version: 1 });
    // Another resource changes nothing, and a new collection needs its own profile.
    const foreign = await send('PUT', id, declared(id, { visibility: 'public' }, { manager: other, adopt: true }));
    expect([foreign.status, foreign.json['message']]).toEqual([409, expect.stringContaining('/manager')]);
    expect(await shown()).toMatchObject({ visibility: 'private' });
    expect((await send('PUT', other, declared(other, { embedding_profile_id: 'removed-profile' }))).status).toBe(400);
    expect((await service.call(ann, `/v1/collections/${other}`)).status).toBe(404);
    expect((await send('PUT', id, declared(id, { visibility: 'private' }))).status).toBe(200);
    await sql`update retrieval.collections set text_bytes = 0 where collection_id = ${id}`;
  });

  describe.each([
    ['a parent that is deleted', '/parent_id', async (id: string) => ({ ...closed(id), parent_id: randomUUID() })],
    ['a tree that is full', '/parent_tree', async (id: string) => ({ ...closed(id), parent_id: await lowest() })],
    [
      'an owner that lost the right',
      '/owner',
      async (id: string) => closed(id, {}, { owner: { ...owner, subject: 'eve' } }),
    ],
    ['a name that is taken', '/name', async (id: string) => closed(id, { name: await takenName() })],
    ['a fixed member', '/chunking', async (id: string) => closed(id, { chunking: { size: 400 } })],
  ])('a collection that its resource closes, with a conflict over %s', (_, over, declaredAs) => {
    test('the collection is closed to readers, with an entry in the audit log, and the conflict is answered', async () => {
      const id = randomUUID();
      const read = async () => (await service.call({ user: 'bob' }, `/v1/collections/${id}`)).status;
      await send('PUT', id, declared(id, { visibility: 'public' }));
      expect(await read()).toBe(200);
      const body = await declaredAs(id);
      for (let pass = 0; pass < 2; pass += 1) {
        const refused = await send('PUT', id, body);
        expect([refused.status, refused.json['message']]).toEqual([409, expect.stringContaining(over)]);
        expect(await read()).toBe(403);
      }
      expect(await updatesOf(id)).toEqual([
        ['accepted', null],
        ['refused', 'conflict'],
        ['refused', 'conflict'],
      ]);
      expect((await send('PUT', id, declared(id, { visibility: 'private' }))).status).toBe(200);
    });

    test('the collection of another resource stays open', async () => {
      const id = randomUUID();
      await send('PUT', id, declared(id, { visibility: 'public' }));
      const foreign = await send('PUT', id, { ...(await declaredAs(id)), manager: randomUUID(), adopt: true });
      expect(foreign.status).toBe(409);
      expect((await service.call({ user: 'bob' }, `/v1/collections/${id}`)).status).toBe(200);
      expect(await updatesOf(id)).toEqual([['refused', 'conflict']]);
    });
  });

  test('a collection with a taken name gets its other declared members and its place, and keeps its name', async () => {
    const [id, parent] = [randomUUID(), randomUUID()];
    await send('PUT', parent, declared(parent));
    await send('PUT', id, declared(id));
    const change = { name: await takenName(), description: 'changed', retrieval_defaults: { top_k: 3 } };
    const refused = await send('PUT', id, { ...declared(id, change), parent_id: parent });
    expect([refused.status, refused.json['message']]).toEqual([409, expect.stringContaining('/name')]);
    expect((await service.call(ann, `/v1/collections/${id}`)).json).toMatchObject({
      name: `of-${id.slice(0, 8)}`,
      description: 'changed',
      retrieval_defaults: { top_k: 3 },
      parent_id: parent,
    });
    const free = { ...change, name: `renamed-${id.slice(0, 8)}` };
    const renamed = await send('PUT', id, { ...declared(id, free), parent_id: parent });
    expect(renamed).toMatchObject({ status: 200, json: { collection: { name: free.name, parent_id: parent } } });
  });

  test('the owner of a collection of a resource has an entry of the operator, and refused requests have theirs', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id));
    expect((await send('PUT', id, declared(id, { collection_type: 'files' }))).status).toBe(409);
    expect((await send('DELETE', id, randomUUID())).status).toBe(409);
    expect((await send('DELETE', id, id, 'another-token')).status).toBe(401);
    const log = await openPostgresAudit(database.database, 'retrieval');
    const { entries } = await log.read({ filter: {}, order: 'newest', limit: 500 });
    const own = entries.flatMap(({ content }) => (content.target?.id.includes(id) ? [content] : [])).toReversed();
    expect(own.map(({ action, outcome, code }) => [action, outcome, code])).toEqual([
      ['relation.grant', 'accepted', null],
      ['collection.update', 'refused', 'conflict'],
      ['collection.delete', 'refused', 'conflict'],
    ]);
    for (const { author } of own) expect(author).toEqual({ kind: 'service', name: 'operator' });
  });

  test.each([
    ['collection_type', { collection_type: 'files' }],
    ['acl_model', { acl_model: 'collection' }],
    ['chunking', { chunking: { size: 400 } }],
  ])('changing %s of a collection through its resource is a conflict that changes nothing', async (over, change) => {
    const id = randomUUID();
    const first = await send('PUT', id, declared(id));
    const refused = await send('PUT', id, declared(id, { description: 'changed', ...change }));
    expect(refused.status).toBe(409);
    expect(refused.json['message']).toContain(`/${over}`);
    expect((await send('PUT', id, declared(id))).json).toEqual(first.json);
  });

  test('a collection of another resource, of another owner or without a manager is never taken over', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id));
    const other = await send('PUT', id, declared(id, {}, { manager: randomUUID(), adopt: true }));
    expect([other.status, other.json['message']]).toEqual([409, expect.stringContaining('/manager')]);
    const named = randomUUID();
    const taken = await send('PUT', named, declared(named, { name: `of-${id.slice(0, 8)}` }));
    expect([taken.status, taken.json['message']]).toEqual([409, expect.stringContaining('/name')]);

    const made = { name: 'made-over-http', embedding_profile_id: 'test-profile' };
    const free = String((await service.call(ann, '/v1/collections', made)).json['collection_id']);
    const adopt = { manager: randomUUID() };
    expect((await send('PUT', free, declared(free, { name: made.name }, adopt))).status).toBe(409);
    const eve = { issuer: 'development:acme', subject: 'eve' };
    const foreign = await send('PUT', free, declared(free, { name: made.name }, { ...adopt, adopt: true, owner: eve }));
    expect([foreign.status, foreign.json['message']]).toEqual([409, expect.stringContaining('/owner')]);
    expect((await send('PUT', free, declared(free, { name: made.name }, { ...adopt, adopt: true }))).status).toBe(200);
  });

  describe('a collection with a declared parent', () => {
    const parentOf = async (id: string) => (await service.call(ann, `/v1/collections/${id}`)).json['parent_id'];
    /** Creates a collection that ann owns and a resource manages. */
    async function above(of: object = {}): Promise<string> {
      const id = randomUUID();
      expect((await send('PUT', id, { ...declared(id), ...of })).status).toBe(200);
      return id;
    }

    test('a collection is created below its declared parent, whose readers then find it, is moved, and is returned to the top level', async () => {
      const [first, second] = [await above(), await above()];
      const id = randomUUID();
      const created = await send('PUT', id, { ...declared(id), parent_id: first });
      expect(created).toMatchObject({ status: 200, json: { collection: { parent_id: first } } });
      const bob = { user: 'bob' };
      expect((await service.call(bob, `/v1/collections/${id}`)).status).toBe(403);
      const granted = await service.call(ann, `/v1/collections/${first}/readers`, { user_id: 'bob' });
      expect(granted.status).toBeLessThan(300);
      expect((await service.call(bob, `/v1/collections/${id}`)).status).toBe(200);
      expect((await send('PUT', id, { ...declared(id), parent_id: second })).status).toBe(200);
      expect(await parentOf(id)).toBe(second);
      expect((await service.call(bob, `/v1/collections/${id}`)).status).toBe(403);
      expect((await send('PUT', id, { ...declared(id), parent_id: null })).status).toBe(200);
      expect(await parentOf(id)).toBeNull();
    });

    test.each([['a parent'], ['the top level']])(
      'a collection whose resource declares %s is not moved over HTTP, until the resource no longer declares its place',
      async (place) => {
        const [parent, other, id] = [await above(), await above(), randomUUID()];
        const parentId = place === 'a parent' ? parent : null;
        expect((await send('PUT', id, { ...declared(id), parent_id: parentId })).status).toBe(200);
        const move = (parent_id: string | null) => service.call(ann, `/v1/collections/${id}:move`, { parent_id });
        for (const to of [other, null]) {
          const refused = await move(to);
          expect([refused.status, refused.json['code']]).toEqual([409, 'conflict']);
          expect(await parentOf(id)).toBe(parentId);
        }
        expect((await service.call({ user: 'eve' }, `/v1/collections/${id}:move`, { parent_id: null })).status).toBe(
          403,
        );
        expect((await send('PUT', id, declared(id))).status).toBe(200);
        expect((await move(other)).status).toBe(200);
        expect(await parentOf(id)).toBe(other);
        expect((await send('PUT', id, { ...declared(id), parent_id: parentId })).status).toBe(200);
        expect((await move(other)).status).toBe(409);
        expect((await send('DELETE', `${id}/manager`, id)).status).toBe(200);
        expect((await move(other)).status).toBe(200);
      },
    );

    test('a collection without a declared parent keeps the place that was set over HTTP', async () => {
      const [parent, id] = [await above(), await above()];
      expect((await service.call(ann, `/v1/collections/${id}:move`, { parent_id: parent })).status).toBe(200);
      expect((await send('PUT', id, declared(id))).status).toBe(200);
      expect(await parentOf(id)).toBe(parent);
    });

    test('declaring a collection below a parent that does not exist, or that the owner may not write, is a conflict', async () => {
      const foreign = await above({ owner: { ...owner, subject: 'eve' } });
      for (const parentId of [randomUUID(), foreign]) {
        const id = randomUUID();
        const refused = await send('PUT', id, { ...declared(id), parent_id: parentId });
        expect([refused.status, refused.json['message']]).toEqual([409, expect.stringContaining('/parent_id')]);
        expect((await service.call(ann, `/v1/collections/${id}`)).status).toBe(404);
      }
    });

    test('ten levels of declared collections are created, and an eleventh level or a cycle is a conflict', async () => {
      const levels = [await above()];
      for (let level = 2; level <= 10; level += 1) levels.push(await above({ parent_id: levels.at(-1) }));
      const id = randomUUID();
      const eleventh = await send('PUT', id, { ...declared(id), parent_id: levels.at(-1) });
      expect([eleventh.status, eleventh.json['message']]).toEqual([409, expect.stringContaining('/parent_tree')]);
      const [top = '', second] = levels;
      const circle = await send('PUT', top, { ...declared(top), parent_id: second });
      expect([circle.status, circle.json['message']]).toEqual([409, expect.stringContaining('/parent_tree')]);
      expect(await parentOf(top)).toBeNull();
    });
  });

  test('a deleted collection is no longer found, another resource cannot delete it, and its id is not reused', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id));
    const [job] = await service.ingest(ann, [documentOf(id, 'handbook', 'holidays are thirty days')]);
    expect(job?.status).toBe('DONE');
    const foreign = await send('DELETE', id, randomUUID());
    expect(foreign.status).toBe(409);
    expect((await service.call(ann, `/v1/collections/${id}`)).status).toBe(200);
    expect(await send('DELETE', id, id)).toMatchObject({ status: 200, json: { deleted: true } });
    expect((await service.call(ann, `/v1/collections/${id}`)).status).toBe(404);
    expect((await service.call(ann, '/v1/query', { collection: id, text: 'holidays' })).status).toBe(404);
    expect((await send('DELETE', id, id)).status).toBe(200);
    expect((await send('PUT', id, declared(id))).status).toBe(409);
  });

  test('a released collection keeps its documents, can be changed over HTTP, and can be taken over by another resource', async () => {
    const id = randomUUID();
    await send('PUT', id, declared(id));
    const [job] = await service.ingest(ann, [documentOf(id, 'handbook', 'holidays are thirty days')]);
    expect(job?.status).toBe('DONE');
    const change = { description: 'of nobody' };
    expect((await service.send(ann, 'PATCH', `/v1/collections/${id}`, change)).status).toBe(409);
    const release = (manager: string) => send('DELETE', `${id}/manager`, manager);
    expect(await release(randomUUID())).toMatchObject({ status: 200, json: { released: true } });
    expect((await service.send(ann, 'PATCH', `/v1/collections/${id}`, change)).status).toBe(409);
    for (const _again of [1, 2]) expect(await release(id)).toMatchObject({ status: 200, json: { released: true } });
    expect((await service.send(ann, 'PATCH', `/v1/collections/${id}`, change)).status).toBe(200);
    const found = await service.call(ann, '/v1/query', { collection: id, text: 'holidays' });
    expect(found.json['items']).toHaveLength(1);
    const adopted = declared(id, change, { manager: randomUUID(), adopt: true });
    expect((await send('PUT', id, adopted)).status).toBe(200);
    expect((await send('PUT', id, declared(id, change))).status).toBe(409);
    expect((await send('DELETE', `${id}/manager`, id, 'another')).status).toBe(401);
  });

  test('a Collection resource that adopts an existing collection never creates one', async () => {
    const id = randomUUID();
    const absent = await send('PUT', id, declared(id, {}, { adopt: true }));
    expect([absent.status, absent.json['message']]).toEqual([409, expect.stringContaining('/adopt')]);
    expect((await service.call(ann, `/v1/collections/${id}`)).status).toBe(404);
  });

  test('the internal routes of collections require the service token, and the public address does not serve them', async () => {
    const id = randomUUID();
    expect((await send('PUT', id, declared(id), 'another')).status).toBe(401);
    expect((await send('DELETE', id, id, 'another')).status).toBe(401);
    const onPublicPort = await service.send(ann, 'DELETE', `/internal/tenants/acme/collections/${id}`);
    expect(onPublicPort.status).toBe(404);
    expect((await send('PUT', id, declared(id, { embedding_profile_id: 'unknown' }))).status).toBe(400);
    expect((await send('PUT', id, { ...declared(id), more: 1 })).status).toBe(400);
  });

  test('concurrent requests create one collection, and of two resources that adopt one collection only one succeeds', async () => {
    const id = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => send('PUT', id, declared(id))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const made = { name: 'adopted-by-one', embedding_profile_id: 'test-profile' };
    const free = String((await service.call(ann, '/v1/collections', made)).json['collection_id']);
    const adopters = Array.from({ length: 2 }, () =>
      send('PUT', free, declared(free, { name: made.name }, { manager: randomUUID(), adopt: true })),
    );
    expect((await Promise.all(adopters)).map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('a body of 65536 bytes is accepted, and a larger one is refused', async () => {
    const id = randomUUID();
    const text = JSON.stringify(declared(id));
    const put = (bytes: number) =>
      fetch(`${service.internalUrl}/internal/tenants/acme/collections/${id}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: text.padEnd(bytes),
      });
    expect((await put(65_536)).status).toBe(200);
    expect((await put(65_537)).status).toBe(413);
  });
});
