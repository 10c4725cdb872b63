import type { Sql } from '#sql/connect';
import type { ObjectType } from '../../model.ts';
import type { ObjectWindow } from '../../ports.ts';
import { closureRules } from './closure.ts';

type Found = { readonly size: number; readonly objects: readonly string[] };

/** Holders whose tuples count for a question: a subject, and the members of its groups. */
type Holding = {
  /** The subject itself, and one entry for the members of each group that the subject claims (`group:…#member`). */
  readonly holders: readonly string[];
  readonly relation: string;
  /** Maximum number of holders, including those of nested groups; if there are more, `size` of an answer is larger. */
  readonly mostHolders: number;
};

/**
 * The next objects of a type to which a holder has the relation by a tuple. This is one statement, so that it sees one
 * snapshot. The statement reads a range of the index for each holder, so that tuples of others cost nothing. `distinct
 * on` is never hashed, so that the objects of one holder stay in their order. All objects are returned as one text,
 * because the driver reads a hundred thousand rows much more slowly.
 */
export async function nextHeld(
  sql: Sql,
  { holders, relation, mostHolders }: Holding,
  type: ObjectType,
  { from = '', to, limit }: ObjectWindow,
): Promise<Found> {
  const [row] = await sql<{ size: number; objects: string }[]>`
    ${withHolders(sql, holders, mostHolders)}
    select (select count(*)::int from holders) as size, coalesce(string_agg(object, ' ' order by object), '') as objects
    from (
      select distinct on (found.object) found.object
      from holders cross join lateral (
        select object from relations.tuples
        where subject = holders.holder and relation = ${relation}
          and object >= greatest(${`${type}:`}, ${from}) collate "C" and object < ${`${type};`} collate "C"
          ${to === undefined ? sql`` : sql`and object <= ${to} collate "C"`}
        order by object limit ${limit}
      ) as found
      order by found.object limit ${limit}
    ) as next`;
  return { size: row?.size ?? 0, objects: row === undefined || row.objects === '' ? [] : row.objects.split(' ') };
}

/**
 * The given objects to which a holder has the relation by a tuple. This is one statement, so that it sees one snapshot.
 */
export async function heldAmong(
  sql: Sql,
  { holders, relation, mostHolders }: Holding,
  objects: readonly string[],
): Promise<Found> {
  const [row] = await sql<Found[]>`
    ${withHolders(sql, holders, mostHolders)}
    select (select count(*)::int from holders) as size, array(
      select distinct object from relations.tuples
      where object = any(${sql.array([...objects])}::text[]) and relation = ${relation}
        and subject in (select holder from holders)
    ) as objects`;
  return row ?? { size: 0, objects: [] };
}

/**
 * The given objects to which a holder has the relation: by a tuple, by other relations or by parents. This is one
 * statement, so that it sees one snapshot. The search starts at the objects, and does not follow their groups, because
 * the groups of the holders are known.
 * @returns `size` counts holders, or pairs of object and relation that were reached from the objects; above
 * `mostHolders` the result is not known
 */
export async function heldByRules(
  sql: Sql,
  { holders, relation, mostHolders }: Holding,
  objects: readonly string[],
): Promise<Found> {
  const { type, relation: given, via, target } = closureRules;
  const [row] = await sql<Found[]>`
    ${withHolders(sql, holders, mostHolders)},
    rules (type, relation, via, target) as (
      select * from unnest(${sql.array([...type])}::text[], ${sql.array([...given])}::text[],
                           ${sql.array([...via])}::text[], ${sql.array([...target])}::text[])
    ),
    reached (root, object, relation) as (
      select object collate "C", object collate "C", ${relation}::text collate "C"
      from unnest(${sql.array([...objects])}::text[]) as asked (object)
      union
      select reached.root, next.object collate "C", next.relation collate "C"
      from reached, lateral (
        select reached.object, rules.target
        from rules
        where rules.via = '' and rules.relation = reached.relation
          and rules.type = split_part(reached.object, ':', 1)
        union all
        select tuples.subject, rules.target
        from rules
        join relations.tuples on tuples.object = reached.object and tuples.relation = rules.via
        where rules.via <> '' and rules.relation = reached.relation
          and rules.type = split_part(reached.object, ':', 1)
      ) as next (object, relation)
    ),
    bounded as materialized (select root, object, relation from reached limit ${mostHolders + 1})
    select greatest((select count(*) from holders), (select count(*) from bounded))::int as size, array(
      select distinct root from bounded
      join relations.tuples using (object, relation)
      where tuples.subject in (select holder from holders)
    ) as objects`;
  return row ?? { size: 0, objects: [] };
}

/** `offset 0` keeps the planner from reading memberships of others: each holder is looked up in the index. */
function withHolders(sql: Sql, holders: readonly string[], most: number) {
  return sql`
    with recursive held (holder) as (
      select unnest(${sql.array([...holders])}::text[]) collate "C"
      union
      select member.object || '#member' collate "C"
      from held cross join lateral (
        select object from relations.tuples where subject = held.holder and relation = 'member' offset 0
      ) as member
    ),
    holders as materialized (select holder from held limit ${most + 1})`;
}
