import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { startRetrieval } from '../testing/start-retrieval.ts';

/** How many collections of one owner the store of relations lists, each with the relations owner, writer and reader. */
const mostListed = 3_333;

test.skipIf(missingPostgres !== undefined)(
  onPostgres('the list of collections is complete for a caller with more relations than the store lists'),
  async () => {
    await using opened = await openTestDatabase();
    await using service = await startRetrieval(opened);
    const { sql } = opened.database;
    const create = async (user: string, name: string, visibility: string) => {
      const body = { name, visibility, embedding_profile_id: 'test-profile' };
      expect((await service.call({ user }, '/v1/collections', body)).status).toBe(201);
    };
    /** Creates collections like the one of ann, faster than over HTTP. */
    const add = (count: number) => sql`
      with first as (
        select c.*, t.object, t.relation, t.subject from retrieval.collections c
        join relations.tuples t on t.object like '%' || c.collection_id and t.relation = 'owner' where c.name = 'of ann'
      ), made as (
        insert into retrieval.collections (collection_id, tenant, name, collection_type, visibility, acl_model,
          empty_acl_policy, chunk_size, chunk_overlap, embedding_profile_id)
        select id, tenant, 'made ' || id, collection_type, visibility, acl_model, empty_acl_policy, chunk_size, chunk_overlap,
          embedding_profile_id
        from first, (select gen_random_uuid() as id from generate_series(1, ${count}::integer)) ids
        returning collection_id
      )
      insert into relations.tuples (object, relation, subject)
      select replace(object, first.collection_id::text, made.collection_id::text), relation, subject from first, made`;
    /** The names of a list. A busy database may exceed the time of a statement: a client repeats a request after a 503. */
    const namesOf = async (query = '') => {
      const { status, json } = await until(`the list${query} is answered`, async () => {
        const answer = await service.call({ user: 'ann' }, `/v1/collections${query}`);
        return answer.status === 503 ? undefined : answer;
      });
      expect([status, json['code']]).toEqual([200, undefined]);
      return (json as unknown as readonly { readonly name: string }[]).map(({ name }) => name);
    };
    /** The names of a page. */
    const page = (limit: number, after = '') =>
      namesOf(`?${new URLSearchParams({ limit: String(limit), ...(after === '' ? {} : { after }) })}`);
    await create('ann', 'of ann', 'private');
    await create('bob', 'hidden', 'private');
    await create('bob', 'public', 'public');
    for (const added of [mostListed - 1, 1]) {
      await add(added);
      const [row] = await sql<{ owned: number }[]>`
        select count(*)::int as owned from retrieval.collections where name not in ('hidden', 'public')`;
      const names = await namesOf();
      expect(names).not.toContain('hidden');
      expect(names).toHaveLength((row?.owned ?? 0) + 1);
      expect(names.at(-1)).toBe('public');
    }
    expect(await page(2, 'made x')).toEqual(['of ann', 'public']);
    expect(await page(1, 'a')).toEqual([expect.stringMatching(/^made /)]);
    expect(await page(1, 'of')).toEqual(['of ann']);
    const names = await namesOf();
    expect(await page(200)).toEqual(names.slice(0, 200));
    expect(await page(200, names[199])).toEqual(names.slice(200, 400));
    expect(await page(200, names.at(-101))).toEqual(names.slice(-100));
  },
);
