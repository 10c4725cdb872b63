import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { markOf, routingOf } from '#search/adapters/opensearch/index-layout';
import type { SearchIndex } from '#search/ports';
import { SearchUnavailableError } from '#search/search-error';
import { entryOf, replaceGroup, unit } from '#search/testing/generated-entries';
import { missingOpenSearch, type OpenSearchServer, onOpenSearch, startOpenSearch } from './opensearch-server.ts';
import { openOpenSearchWorld } from './opensearch-world.ts';

const legs = [
  { kind: 'bm25', terms: ['книг'] },
  { kind: 'vector', vector: unit(1, 0, 0, 0) },
] as const;

async function found(index: SearchIndex, reflects: bigint): Promise<readonly (readonly string[])[]> {
  const rankings = await index.candidates({ partition: 'p', reflects, labels: ['public'], legs, window: 1_000 });
  return rankings.map((ranking) => ranking.map(({ id }) => id));
}

describe.skipIf(missingOpenSearch !== undefined)(onOpenSearch('faults of OpenSearch'), () => {
  let server: OpenSearchServer;
  beforeAll(async () => {
    server = await startOpenSearch();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  const ask = (path: string, method: string, body?: unknown) =>
    fetch(new URL(path, server.url), {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const three = ['a', 'b', 'c'].map((id) => ({ kind: 'put', entry: entryOf(id) }) as const);

  test.each([
    ['routing', routingOf],
    ['mark', markOf],
  ])('a partition whose %s begins with an underscore is found like any other', async (_name, hashOf) => {
    await using world = await openOpenSearchWorld(server);
    const names = Array.from({ length: 4_096 }, (_, at) => `p-${at}`).filter((name) => hashOf(name).startsWith('_'));
    const partition = names[0] ?? '';
    expect(names.length).toBeGreaterThan(0);
    const reflects = await world.commit(partition, three);
    const rankings = await world.index.candidates({ partition, reflects, labels: ['public'], legs, window: 10 });
    expect(rankings.map((ranking) => ranking.length)).toEqual([3, 3]);
    await world.index.drop(partition);
  });

  test('a deleted OpenSearch index is loaded again by the next query', async () => {
    await using world = await openOpenSearchWorld(server);
    const reflects = await world.commit('p', three);
    await found(world.index, reflects);
    const loads = world.source.loads;
    expect((await ask(`/${world.alias}-index`, 'DELETE')).status).toBe(200);
    const all = ['a', 'b', 'c'];
    expect(await found(world.index, reflects)).toEqual([all, all]);
    expect(world.source.loads).toBe(loads + 1);
  });

  test('a partition whose place has changed is loaded into the new place after the next read of the place', async () => {
    await using world = await openOpenSearchWorld({ ...server, placeMs: 0 });
    await using patient = await openOpenSearchWorld({ ...server, source: world.source });
    const reflects = await world.commit('p', three);
    const all = ['a', 'b', 'c'];
    for (const { index, renew } of [world, patient]) {
      await found(index, reflects);
      const loads = world.source.loads;
      expect(await found(index, reflects)).toEqual([all, all]);
      expect(world.source.loads).toBe(loads);
      renew();
      expect(await found(index, reflects)).toEqual([all, all]);
      expect(world.source.loads).toBe(index === world.index ? loads + 1 : loads);
    }
  });

  test('a preloaded partition is not loaded again by its first query, and follows later changes', async () => {
    await using world = await openOpenSearchWorld(server);
    await world.commit('p', three);
    expect(await world.index.preload('p', new AbortController().signal)).toBe(true);
    const loads = world.source.loads;
    const reflects = await world.commit('p', [{ kind: 'put', entry: entryOf('d') }]);
    const all = ['a', 'b', 'c', 'd'];
    expect(await found(world.index, reflects)).toEqual([all, all]);
    expect([loads, world.source.loads]).toEqual([1, 1]);
  });

  test('an OpenSearch index that another process recreated with only some partitions is not treated as complete', async () => {
    await using world = await openOpenSearchWorld(server);
    await using other = await openOpenSearchWorld({ ...server, generation: world.generation, source: world.source });
    const reflects = await world.commit('p', three);
    await found(world.index, reflects);
    await ask(`/${world.alias}-index`, 'DELETE');
    // The other process loads its own partition into a new index with the same name.
    const its = await world.source.commit('q', three);
    await other.index.candidates({ partition: 'q', reflects: its, labels: 'every', legs, window: 1 });
    const all = ['a', 'b', 'c'];
    expect(await found(world.index, reflects)).toEqual([all, all]);
  });

  test('an OpenSearch index of another program with the same name is refused and receives no write', async () => {
    await using world = await openOpenSearchWorld(server);
    await ask('/foreign', 'PUT', { aliases: { [world.alias]: {} } });
    const reflects = await world.commit('p', three);
    await expect(found(world.index, reflects)).rejects.toBeInstanceOf(SearchUnavailableError);
    await ask('/foreign/_refresh', 'POST');
    expect(await (await ask('/foreign/_count', 'GET')).json()).toMatchObject({ count: 0 });
    await ask('/foreign', 'DELETE');
  });

  test('a write to OpenSearch does not create an index with the name of the alias', async () => {
    await using world = await openOpenSearchWorld(server);
    const reflects = await world.commit('p', three);
    await found(world.index, reflects);
    await ask(`/${world.alias}-index`, 'DELETE');
    await world.index.refresh('p');
    expect((await ask(`/_alias/${world.alias}`, 'GET')).status).toBe(200);
  });

  test('a search after a change is refused while an OpenSearch index accepts no writes, and finds the change afterwards', async () => {
    await using world = await openOpenSearchWorld(server);
    const block = (value: true | null) =>
      ask(`/${world.alias}-index/_settings`, 'PUT', { 'index.blocks.read_only_allow_delete': value });
    await found(world.index, await world.commit('p', three));
    expect((await block(true)).status).toBe(200);
    const put = await world.commit('p', [{ kind: 'put', entry: entryOf('d') }]);
    await expect(found(world.index, put)).rejects.toMatchObject({ fault: 'read_only' });
    await block(null);
    expect((await found(world.index, put))[0]).toHaveLength(4);
  });

  test('two processes that write the same changes to one OpenSearch index agree, and neither reverts writes of the other', async () => {
    await using world = await openOpenSearchWorld(server);
    await using other = await openOpenSearchWorld({ ...server, generation: world.generation, source: world.source });
    for (let version = 0; version < 8; version += 1) {
      const entry = entryOf(`d-${version}`, { group: 'd' });
      const reflects = await world.commit('p', [
        ...replaceGroup('d', [entry]),
        { kind: 'put', entry: entryOf('kept', { labels: version % 2 === 0 ? ['public'] : ['group:a'] }) },
      ]);
      const expected = version % 2 === 0 ? [`d-${version}`, 'kept'] : [`d-${version}`];
      const answers = await Promise.all([world, other].map(({ index }) => found(index, reflects)));
      expect(answers).toEqual([
        [expected, expected],
        [expected, expected],
      ]);
    }
  });

  test('a suspended OpenSearch server causes a timeout, and answers after it is resumed', async () => {
    await using world = await openOpenSearchWorld({ ...server, timeoutMs: 1_000, waitMs: 2_000 });
    const reflects = await world.commit('p', three);
    await until('the index is filled', async () => (await found(world.index, reflects)).length === 2);
    server.signal('SIGSTOP');
    try {
      // Threads of the server stop one after another; a thread that still runs can still answer.
      const refusal = await until('a query is refused', () =>
        found(world.index, reflects).then(
          () => false,
          (error) => error,
        ),
      );
      expect(refusal).toBeInstanceOf(SearchUnavailableError);
    } finally {
      server.signal('SIGCONT');
    }
    const all = ['a', 'b', 'c'];
    expect(await until('it answers again', () => found(world.index, reflects))).toEqual([all, all]);
  });
});
