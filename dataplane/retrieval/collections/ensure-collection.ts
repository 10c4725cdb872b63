import type { AuditContent } from '#contracts/audit';
import type { EnsureCollection, ManagedConflict } from '#contracts/managed-collections';
import type { Relations, Tuple } from '#relations/ports';
import { collectionObject } from '#relations/tenant-object';
import type { Database, Sql } from '#sql/connect';
import type { Note } from '../access/change-author.ts';
import type { ChangePorts } from '../access/change-relations.ts';
import { hasRoomBelow, moveCollection } from '../access/move-collection.ts';
import { type CollectionRecord, findCollection } from './collection-record.ts';
import { createCollection } from './create-collection.ts';
import { updateCollection } from './update-collection.ts';

type Declared = EnsureCollection & {
  readonly tenant: string;
  readonly collectionId: string;
  readonly emptyAclPolicy: 'reject' | 'strictest';
  /** The name of the collection in the store of relations, and the tuple of its owner. */
  readonly object: string;
  readonly owned: Tuple;
  /** The creation, a change of the declared place, or of the declared members. */
  readonly note: { readonly create: Note<readonly Tuple[]>; readonly move: AuditContent; readonly update: Note };
};

type Ensured =
  | { readonly kind: 'ensured'; readonly record: CollectionRecord }
  | { readonly kind: 'conflict'; readonly over: ManagedConflict };

/**
 * Brings a collection into the state that its resource declares; a change of the profile is left to a reindex. Without
 * a difference nothing is written. A collection of another manager is never changed, and neither is a collection that
 * was created over HTTP unless it may be adopted. A conflict changes nothing, with two exceptions: a public collection
 * of this manager is closed if its resource declares it private, and if its name is taken, the other members are still
 * set as declared.
 */
export async function ensureCollection(ports: ChangePorts, declared: Declared): Promise<Ensured> {
  const { database, relations } = ports;
  const { tenant, collectionId, manager, collection } = declared;
  const { sql } = database;
  const before = await findCollection(sql, tenant, { id: collectionId });
  await close(database, declared, before);
  const misplaced = await placeConflict(sql, relations, declared, before);
  if (misplaced !== undefined) return conflict(misplaced);
  const created = declared.adopt ? 'taken' : await create(database, relations, declared);
  if (created !== 'taken') return place(ports, declared, created);
  const isOwner = await relations.check(declared.owned.subject, 'owner', declared.object);
  const present = await findCollection(sql, tenant, { id: collectionId });
  if (present === undefined) return conflict(declared.adopt ? 'adopt' : await takenBy(sql, tenant, collection.name));
  const over = conflictWith(present, { ...declared, isOwner });
  if (over !== undefined) return conflict(over);
  if (present.managedBy === null && !(await adoptFree(sql, { collectionId, manager }))) return conflict('manager');
  const at = { tenant, collectionId, note: declared.note.update };
  if (!isSame(present, declared)) {
    const { description, visibility, retrieval_defaults } = collection;
    const members = { description, visibility, retrieval_defaults, empty_acl_policy: declared.emptyAclPolicy };
    await updateCollection(database, at, members);
  }
  const placed = await place(ports, declared, (await findCollection(sql, tenant, { id: collectionId })) ?? present);
  const { name } = collection;
  if (placed.kind === 'conflict' || placed.record.name === name) return placed;
  // A change of the access list must take effect even if the new name is taken, so that the name is changed last.
  if ((await updateCollection(database, at, { name })) === 'taken') return conflict('name');
  return { kind: 'ensured', record: { ...placed.record, name } };
}

/** No conflict keeps a collection public that its resource declares private. */
async function close(
  database: Database,
  { tenant, collectionId, manager, collection, note }: Declared,
  before: CollectionRecord | undefined,
): Promise<void> {
  if (collection.visibility !== 'private' || before?.managedBy !== manager || before.visibility === 'private') return;
  await updateCollection(database, { tenant, collectionId, note: note.update }, { visibility: 'private' });
}

/** Why a collection in another place cannot be moved to its declared place; checked before anything is written. */
async function placeConflict(
  sql: Sql,
  relations: Relations,
  { tenant, parent_id: parentId, owned }: Declared,
  before: CollectionRecord | undefined,
): Promise<ManagedConflict | undefined> {
  if (parentId === undefined || parentId === null || before?.parentId === parentId) return undefined;
  const parent = await findCollection(sql, tenant, { id: parentId });
  if (parent === undefined) return 'parent_id';
  if (!(await mayPlace(relations, { tenant, parentId, owned }))) return 'parent_id';
  return (await hasRoomBelow(sql, tenant, parentId)) ? undefined : 'parent_tree';
}

/** Whether the declared owner may write the declared parent at present. */
async function mayPlace(
  relations: Relations,
  { tenant, parentId, owned }: Pick<Declared, 'tenant' | 'owned'> & { readonly parentId: string | null },
): Promise<boolean> {
  if (parentId === null) return true;
  return relations.check(owned.subject, 'writer', collectionObject(tenant, parentId));
}

/** A collection is created at the top level, where it has the fewest readers, and then moved to its declared place. */
async function place(
  ports: ChangePorts,
  { tenant, collectionId, parent_id: parentId, owned, note: { move: entry } }: Declared,
  record: CollectionRecord,
): Promise<Ensured> {
  const parentManaged = parentId !== undefined;
  if (record.parentManaged !== parentManaged) await keepPlacing(ports.database.sql, { collectionId, parentManaged });
  if (parentId === undefined || parentId === record.parentId) {
    return { kind: 'ensured', record: { ...record, parentManaged } };
  }
  const isPermitted = () => mayPlace(ports.relations, { tenant, parentId, owned });
  const moved = await moveCollection(ports, { tenant, collectionId, parentId, entry, isPermitted });
  if (moved === 'not_found' || moved === 'forbidden') return conflict('parent_id');
  if (moved !== 'moved') return conflict('parent_tree');
  return { kind: 'ensured', record: { ...record, parentId, parentManaged } };
}

/** From this commit on, a move over HTTP is refused or allowed again. */
async function keepPlacing(
  sql: Sql,
  { collectionId, parentManaged }: { readonly collectionId: string; readonly parentManaged: boolean },
): Promise<void> {
  await sql`
    update retrieval.collections set parent_managed = ${parentManaged} where collection_id = ${collectionId}`;
}

function create(
  database: Database,
  relations: Relations,
  { tenant, collectionId, manager, collection, emptyAclPolicy, object, owned, note }: Declared,
): Promise<CollectionRecord | 'taken'> {
  return createCollection(database, relations, {
    tenant,
    collectionId,
    request: collection,
    emptyAclPolicy,
    managedBy: manager,
    object,
    tuples: [owned],
    note: note.create,
  });
}

/** If two resources adopt one collection concurrently, only one of them succeeds. */
async function adoptFree(sql: Sql, adopted: Pick<Declared, 'collectionId' | 'manager'>): Promise<boolean> {
  const rows = await sql`
    update retrieval.collections set managed_by = ${adopted.manager}
    where collection_id = ${adopted.collectionId} and managed_by is null and status <> 'deleted' returning collection_id`;
  return rows.length > 0;
}

function conflict(over: ManagedConflict): Ensured {
  return { kind: 'conflict', over };
}

/** The reason why an existing collection cannot become the declared one. */
function conflictWith(
  present: CollectionRecord,
  { manager, adopt, isOwner, collection }: EnsureCollection & { readonly isOwner: boolean },
): ManagedConflict | undefined {
  const { managedBy } = present;
  if (managedBy === null ? !adopt : managedBy !== manager) return 'manager';
  if (!isOwner) return 'owner';
  if (present.collectionType !== collection.collection_type) return 'collection_type';
  if (present.aclModel !== collection.acl_model) return 'acl_model';
  const { size, overlap } = collection.chunking;
  return present.chunkSize === size && present.chunkOverlap === overlap ? undefined : 'chunking';
}

async function takenBy(sql: Sql, tenant: string, name: string): Promise<ManagedConflict> {
  return (await findCollection(sql, tenant, { name })) === undefined ? 'collection_id' : 'name';
}

/** Whether the members other than name, place and profile have the declared values. */
function isSame(present: CollectionRecord, { collection: declared, emptyAclPolicy }: Declared): boolean {
  const [held, wanted] = [present.retrievalDefaults, declared.retrieval_defaults];
  return (
    present.emptyAclPolicy === emptyAclPolicy &&
    present.description === declared.description &&
    present.visibility === declared.visibility &&
    held.mode === wanted.mode &&
    held.top_k === wanted.top_k &&
    held.rerank_profile_id === wanted.rerank_profile_id
  );
}
