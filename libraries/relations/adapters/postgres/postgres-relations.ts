import { type Database, type Sql, SqlUnavailableError } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { checkChange, checkLimit, checkReplacement } from '../../check-change.ts';
import { isGrantedOnly, model, type ObjectType } from '../../model.ts';
import { objectsWithin } from '../../objects-within.ts';
import type { Relations, TuplePage } from '../../ports.ts';
import { RelationsModelError, RelationsUnavailableError } from '../../relations-error.ts';
import {
  checkClaims,
  checkHolder,
  checkObject,
  checkObjects,
  checkQuestion,
  checkTypeRelation,
  checkWindow,
  type Tuple,
} from '../../tuple.ts';
import { checkClosure } from './check-closure.ts';
import { closureRules } from './closure.ts';
import { heldAmong, heldByRules, nextHeld } from './held-objects.ts';

/** The schema of the tuples, and its migrations. */
export const tupleTables = { schema: 'relations', folder: new URL('./migrations/', import.meta.url) } as const;
/** Maximum number of pairs of object and relation that one check visits; a check that needs more is refused. */
const largestClosure = 10_000;
const allRelations = [...new Set(Object.values(model).flatMap((relations) => Object.keys(relations)))];

/**
 * Relations as tuples in PostgreSQL. Migrates its schema first. The caller disposes the database.
 * @throws RelationsUnavailableError
 * @throws MigrationError
 */
export async function openPostgresRelations(database: Database): Promise<Relations> {
  await available(() => migrate(database, tupleTables));
  return postgresRelations(database.sql);
}

function postgresRelations(sql: Sql): Relations {
  const relations: Relations = {
    joinsTransactions: true,

    async check(subject, relation, object, claimed = []) {
      checkQuestion(subject, relation, object);
      checkClaims(subject, claimed);
      if (relation === 'member' && claimed.includes(object)) return true;
      const holders = [subject, ...claimed.map(membersOf)];
      const question = { holders, relation, object, mostPairs: largestClosure };
      const { found, size } = await available(() => checkClosure(sql, question));
      if (found) return true;
      if (size <= largestClosure) return false;
      throw tooComplex();
    },

    checkerOf(subject, claimed) {
      return (relation, object) => relations.check(subject, relation, object, claimed);
    },

    async groupsOf(subject, claimed = []) {
      checkClaims(subject, claimed);
      const reached = await available(() => reachedFrom(sql, [subject, ...claimed.map(membersOf)], ['member']));
      const groups = reached.filter(({ relation }) => relation === 'member').map(({ object }) => object);
      return [...new Set([...groups, ...claimed])].sort();
    },

    async objectsOf(subject, relation, type, claimed = []) {
      checkClaims(subject, claimed);
      checkTypeRelation(relation, type);
      return await objectsOfHolders(sql, [subject, ...claimed.map(membersOf)], { relation, type, claimed });
    },

    async nextObjects(subject, relation, type, window, claimed = []) {
      checkHolder(subject, claimed);
      checkTypeRelation(relation, type);
      checkWindow(window);
      const holders = [subject, ...claimed.map(membersOf)];
      if (!isGrantedOnly(type, relation)) {
        return objectsWithin(await objectsOfHolders(sql, holders, { relation, type, claimed }), window);
      }
      const holding = { holders, relation, mostHolders: largestClosure };
      const { size, objects } = await available(() => nextHeld(sql, holding, type, window));
      if (size > largestClosure) throw tooComplex();
      return objects;
    },

    async checkEach(subject, relation, objects, claimed = []) {
      checkClaims(subject, claimed);
      const type = checkObjects(relation, objects);
      if (type === undefined) return [];
      const checkAlone = () =>
        Promise.all(objects.map((object) => relations.check(subject, relation, object, claimed)));
      if (type === 'group') return await checkAlone();
      const isGranted = isGrantedOnly(type, relation);
      const holding = { holders: [subject, ...claimed.map(membersOf)], relation, mostHolders: largestClosure };
      const { size, objects: found } = await available(() =>
        (isGranted ? heldAmong : heldByRules)(sql, holding, objects),
      );
      if (size > largestClosure) {
        if (isGranted) throw tooComplex();
        // The objects are checked one by one, because each object alone has the bound of `check`.
        return await checkAlone();
      }
      const held = new Set(found);
      return objects.map((object) => held.has(object));
    },

    async tuplesOf(object) {
      checkObject(object);
      const tuples = await available(
        () => sql<Tuple[]>`
          select subject, relation, object from relations.tuples where object = ${object}
          order by relation, subject limit ${largestClosure + 1}`,
      );
      if (tuples.length > largestClosure) throw tooComplex();
      return [...tuples];
    },

    async grant(given, within) {
      const tuples = checkChange(given);
      await available(
        () => (within ?? sql)`
          insert into relations.tuples (object, relation, subject)
          select * from ${columns(sql, tuples)} as given (object, relation, subject)
          ${inKeyOrder(sql)} on conflict do nothing`,
      );
    },

    async revoke(given, within) {
      const tuples = checkChange(given);
      await available(
        () => (within ?? sql)`
          with locked as (
            select object, relation, subject from relations.tuples
            where (object, relation, subject) in (select * from ${columns(sql, tuples)})
            ${inKeyOrder(sql)} for update
          )
          delete from relations.tuples
          where (object, relation, subject) in (select object, relation, subject from locked)`,
      );
    },

    async replace(change, within) {
      const { removed, added } = checkReplacement(change);
      await available(
        () => (within ?? sql)`
          with locked as (
            select object, relation, subject from relations.tuples
            where (object, relation, subject) in (select * from ${columns(sql, removed)})
            ${inKeyOrder(sql)} for update
          ),
          gone as (
            delete from relations.tuples
            where (object, relation, subject) in (select object, relation, subject from locked)
          )
          insert into relations.tuples (object, relation, subject)
          select * from ${columns(sql, added)} as given (object, relation, subject)
          ${inKeyOrder(sql)} on conflict do nothing`,
      );
    },

    async listTuples({ limit, after }) {
      checkLimit(limit);
      const from = after === undefined ? { object: '', relation: '', subject: '' } : readCursor(after);
      const tuples = await available(
        () => sql<Tuple[]>`
          select subject, relation, object from relations.tuples
          where (object, relation, subject) > (${from.object}, ${from.relation}, ${from.subject})
          order by object, relation, subject limit ${limit + 1}`,
      );
      return pageOf([...tuples], limit);
    },

    async [Symbol.asyncDispose]() {},
  };
  return relations;
}

/** Every object of a type to which the holders have the relation, in order. */
async function objectsOfHolders(
  sql: Sql,
  holders: readonly string[],
  {
    relation,
    type,
    claimed,
  }: { readonly relation: string; readonly type: ObjectType; readonly claimed: readonly string[] },
): Promise<readonly string[]> {
  const reached = await available(() => reachedFrom(sql, holders, allRelations));
  const claims = type === 'group' && relation === 'member' ? claimed : [];
  const found = reached.filter((one) => one.relation === relation && one.object.startsWith(`${type}:`));
  return [...new Set([...found.map(({ object }) => object), ...claims])].sort();
}

/**
 * Every pair of object and relation that the holders have: by their own tuples with one of the relations, by groups, by
 * other relations and by parents. This is one statement, so that it sees one snapshot.
 */
async function reachedFrom(
  sql: Sql,
  holders: readonly string[],
  relations: readonly string[],
): Promise<readonly Pick<Tuple, 'object' | 'relation'>[]> {
  const { type, relation: given, via, target } = closureRules;
  const rows = await sql<Pick<Tuple, 'object' | 'relation'>[]>`
    with recursive rules (type, relation, via, target) as (
      select * from unnest(${sql.array([...type])}::text[], ${sql.array([...given])}::text[],
                           ${sql.array([...via])}::text[], ${sql.array([...target])}::text[])
    ),
    reached (object, relation) as (
      select object, relation from relations.tuples
      where subject = any(${sql.array([...holders])}::text[]) and relation = any(${sql.array([...relations])}::text[])
      union
      select next.object collate "C", next.relation collate "C"
      from reached, lateral (
        select reached.object, rules.relation
        from rules
        where rules.via = '' and rules.target = reached.relation
          and rules.type = split_part(reached.object, ':', 1)
        union all
        select tuples.object, tuples.relation
        from relations.tuples
        where reached.relation = 'member' and tuples.subject = reached.object || '#member'
          and tuples.relation = any(${sql.array([...relations])}::text[])
        union all
        select tuples.object, rules.relation
        from rules
        join relations.tuples on tuples.subject = reached.object and tuples.relation = rules.via
        where rules.via <> '' and rules.target = reached.relation
          and rules.type = split_part(tuples.object, ':', 1)
      ) as next (object, relation)
    )
    select object, relation from reached limit ${largestClosure + 1}`;
  if (rows.length > largestClosure) throw tooComplex();
  return rows;
}

function membersOf(group: string): string {
  return `${group}#member`;
}

function tooComplex(): RelationsModelError {
  return new RelationsModelError('too_complex', 'the relation has too many groups and parents');
}

function columns(sql: Sql, tuples: readonly Tuple[]) {
  const column = (name: keyof Tuple) => sql`${sql.array(tuples.map((tuple) => tuple[name]))}::text[]`;
  return sql`unnest(${column('object')}, ${column('relation')}, ${column('subject')})`;
}

/** Every change locks its tuples in this order, so that two changes of the same tuples never deadlock (40P01). */
function inKeyOrder(sql: Sql) {
  return sql`order by object collate "C", relation collate "C", subject collate "C"`;
}

function pageOf(tuples: readonly Tuple[], limit: number): TuplePage {
  const page = tuples.slice(0, limit);
  const last = page.at(-1);
  const next = tuples.length > limit && last !== undefined ? cursorOf(last) : null;
  return { tuples: page, next };
}

function cursorOf({ object, relation, subject }: Tuple): string {
  return Buffer.from(JSON.stringify([object, relation, subject])).toString('base64url');
}

function readCursor(text: string): Tuple {
  try {
    const [object, relation, subject] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (typeof object === 'string' && typeof relation === 'string' && typeof subject === 'string') {
      return { object, relation, subject };
    }
  } catch {
    // The cursor is invalid, because it is not JSON.
  }
  throw new RelationsModelError('bad_cursor', 'the cursor is not that of an earlier page');
}

async function available<T>(run: () => PromiseLike<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof SqlUnavailableError ? new RelationsUnavailableError(error, error.isLate) : error;
  }
}
