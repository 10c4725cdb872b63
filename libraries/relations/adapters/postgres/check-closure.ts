import type { Sql } from '#sql/connect';
import { isGrantedOnly, type ObjectType } from '../../model.ts';
import { RelationsUnavailableError } from '../../relations-error.ts';
import { closureRules } from './closure.ts';
import { nextHeld } from './held-objects.ts';

type ClosureQuestion = {
  /** The subject itself, and the members of the groups that it claims. */
  readonly holders: readonly string[];
  readonly relation: string;
  readonly object: string;
  /**
   * Maximum number of pairs of object and relation, or of groups of the caller; if there are more, `size` of the answer
   * is larger.
   */
  readonly mostPairs: number;
};

type ClosureAnswer = { readonly found: boolean; readonly size: number };

/**
 * Whether a holder has the relation. A relation that only tuples grant, such as a right on an agent, mostly comes from
 * a tuple of the object itself, which one look-up in the index finds. Otherwise the groups of the caller are searched,
 * not those of the object, so that a hidden object takes the same time as a missing one. The closure of the other
 * relations starts at the object. Each search is one statement, so that it sees one snapshot.
 */
export async function checkClosure(sql: Sql, question: ClosureQuestion): Promise<ClosureAnswer> {
  const type = question.object.slice(0, question.object.indexOf(':')) as ObjectType;
  const { relation, object } = question;
  if (!isGrantedOnly(type, relation)) return await searchClosure(sql, question);
  if (await hasTuple(sql, question)) return { found: true, size: 1 };
  const holding = { holders: question.holders, relation, mostHolders: question.mostPairs };
  const { size, objects } = await nextHeld(sql, holding, type, { from: object, to: object, limit: 1 });
  return { found: objects.length > 0, size };
}

/** Whether a tuple of the object itself grants the relation to a holder. */
async function hasTuple(sql: Sql, { holders, relation, object }: ClosureQuestion): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from relations.tuples
      where object = ${object} and relation = ${relation} and subject = any(${sql.array([...holders])}::text[])
    ) as found`;
  return row?.found === true;
}

/** Collects every pair (object, relation) that implies the relation of the question; `union` ends cycles. */
async function searchClosure(
  sql: Sql,
  { holders, relation, object, mostPairs }: ClosureQuestion,
): Promise<ClosureAnswer> {
  const [row] = await sql<ClosureAnswer[]>`
    with recursive ${reachedByRules(sql, object, relation)},
    bounded as (select object, relation from reached limit ${mostPairs + 1})
    select (select count(*)::int from bounded) as size,
      exists (
        select from bounded
        join relations.tuples using (object, relation)
        where tuples.subject = any(${sql.array([...holders])}::text[])
      ) as found`;
  if (row === undefined) throw new RelationsUnavailableError();
  return row;
}

/** The pairs of any relation: by groups, other relations and parents. */
function reachedByRules(sql: Sql, object: string, relation: string) {
  const { type, relation: given, via, target } = closureRules;
  return sql`
    rules (type, relation, via, target) as (
      select * from unnest(${sql.array([...type])}::text[], ${sql.array([...given])}::text[],
                           ${sql.array([...via])}::text[], ${sql.array([...target])}::text[])
    ),
    reached (object, relation) as (
      select ${object}::text collate "C", ${relation}::text collate "C"
      union
      select next.object collate "C", next.relation collate "C"
      from reached, lateral (
        select reached.object, rules.target
        from rules
        where rules.via = '' and rules.relation = reached.relation
          and rules.type = split_part(reached.object, ':', 1)
        union all
        select split_part(tuples.subject, '#', 1), split_part(tuples.subject, '#', 2)
        from relations.tuples
        where tuples.object = reached.object and tuples.relation = reached.relation
          and strpos(tuples.subject, '#') > 0
        union all
        select tuples.subject, rules.target
        from rules
        join relations.tuples on tuples.object = reached.object and tuples.relation = rules.via
        where rules.via <> '' and rules.relation = reached.relation
          and rules.type = split_part(reached.object, ':', 1)
      ) as next (object, relation)
    )`;
}
