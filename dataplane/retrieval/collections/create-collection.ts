import type { CreateCollection } from '#contracts/retrieval';
import type { Relations, Tuple } from '#relations/ports';
import { relationLimits } from '#relations/ports';
import type { Database, TransactionSql } from '#sql/connect';
import type { Note } from '../access/change-author.ts';
import { type CollectionRecord, findCollection } from './collection-record.ts';

type NewCollection = {
  readonly tenant: string;
  readonly collectionId: string;
  readonly request: Omit<CreateCollection, 'collection_id'>;
  readonly emptyAclPolicy: 'reject' | 'strictest';
  /** The UID of the resource that manages it; null for a collection that is created over HTTP. */
  readonly managedBy: string | null;
  /** The object of relations of the collection, and its initial tuples. */
  readonly object: string;
  readonly tuples: readonly Tuple[];
  /** Adds the audit entries of the tuples. */
  readonly note: Note<readonly Tuple[]>;
};

/**
 * Creates a collection with its owner. The row is locked from its insert to the commit, and the tuples are granted
 * before the commit, so that a visible collection always has its owner. Tuples of a failed creation are removed before
 * another collection gets the same id.
 * @returns `taken` if the id or the name is in use, or the id was used earlier
 */
export async function createCollection(
  database: Database,
  relations: Relations,
  created: NewCollection,
): Promise<CollectionRecord | 'taken'> {
  return database.sql.begin(async (sql) => {
    if (!(await insertCollection(sql, created))) return 'taken';
    const leftovers = await relations.tuplesOf(created.object);
    for (let at = 0; at < leftovers.length; at += relationLimits.tuples) {
      await relations.revoke(leftovers.slice(at, at + relationLimits.tuples));
    }
    await relations.grant(created.tuples);
    const record = (await findCollection(sql, created.tenant, { id: created.collectionId })) ?? 'taken';
    await created.note(sql, created.tuples);
    return record;
  });
}

async function insertCollection(sql: TransactionSql, created: NewCollection): Promise<boolean> {
  const { tenant, collectionId, request, emptyAclPolicy, managedBy } = created;
  const rows = await sql`
    insert into retrieval.collections (collection_id, tenant, name, description, collection_type, parent_id, visibility,
      acl_model, empty_acl_policy, chunk_size, chunk_overlap, retrieval_defaults, embedding_profile_id, managed_by)
    values (${collectionId}, ${tenant}, ${request.name}, ${request.description}, ${request.collection_type},
      ${request.parent_id ?? null}, ${request.visibility}, ${request.acl_model}, ${emptyAclPolicy},
      ${request.chunking.size}, ${request.chunking.overlap},
      ${JSON.stringify(request.retrieval_defaults)}::text::jsonb, ${request.embedding_profile_id}, ${managedBy})
    on conflict do nothing returning collection_id`;
  if (rows.length === 0) return false;
  await sql`
    insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state)
    values (${collectionId}, 1, ${request.embedding_profile_id}, 'active')`;
  return true;
}
