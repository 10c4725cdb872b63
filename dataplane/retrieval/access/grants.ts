import { type CollectionGrant, grantLimits, type Holder } from '#contracts/retrieval-grants';
import type { TenantCaller } from '#identity/tenant-caller';
import { controlPlane } from '#relations/model';
import type { Relations, Tuple } from '#relations/ports';
import { userSubject } from '#relations/subject';
import type { Database } from '#sql/connect';
import type { Note } from './change-entry.ts';
import { holderOfSubject, subjectOfHolder } from './holders.ts';

type Ports = { readonly database: Database; readonly relations: Relations; readonly note: Note<Tuple> };

/** The outcome of a grant; `too_many` means that the object is at its limit of grants and unchanged. */
type GrantOutcome = 'given' | 'too_many';

/**
 * Grants a relation to an object. Granting it again changes nothing. Two concurrent grants may exceed the limit by one
 * each: the limit keeps lists short and is not a protection. Only a change is noted.
 * @throws RelationsUnavailableError: the relation may or may not have been granted
 * @throws RelationsModelError for a name that no store accepts
 */
export async function giveRelation(
  { database, relations, note }: Ports,
  caller: TenantCaller,
  given: { readonly holder: Holder; readonly relation: string; readonly object: string },
): Promise<GrantOutcome> {
  const tuple = tupleOf(caller, given);
  const held = await relations.tuplesOf(given.object);
  const isHeld = held.some(({ subject, relation }) => subject === tuple.subject && relation === tuple.relation);
  if (!isHeld && held.length >= grantLimits.listed) return 'too_many';
  await database.sql.begin(async (sql) => {
    await relations.grant([tuple], sql);
    if (!isHeld) await note(sql, tuple);
  });
  return 'given';
}

/**
 * Revokes a relation. Revoking an absent one changes nothing, and is noted: it ends a change that a store outside of the
 * transaction may have made without an entry. Throws the same errors as `giveRelation`.
 */
export async function takeRelation(
  { database, relations, note }: Ports,
  caller: TenantCaller,
  taken: { readonly holder: Holder; readonly relation: string; readonly object: string },
): Promise<void> {
  const tuple = tupleOf(caller, taken);
  await database.sql.begin(async (sql) => {
    await relations.revoke([tuple], sql);
    await note(sql, tuple);
  });
}

/** Owners, writers and readers with a direct relation to a collection. */
export async function grantsOf(
  relations: Relations,
  caller: TenantCaller,
  object: string,
): Promise<readonly CollectionGrant[]> {
  const tuples = await relations.tuplesOf(object);
  return tuples.flatMap(({ subject, relation }): readonly CollectionGrant[] => {
    const holder = holderOfSubject(subject, caller);
    if (holder === undefined) return [];
    return relation === 'owner' || relation === 'writer' || relation === 'reader' ? [{ relation, ...holder }] : [];
  });
}

/** Members of a group in the store of relations. */
export async function listedMembers(
  relations: Relations,
  caller: TenantCaller,
  group: string,
): Promise<readonly Holder[]> {
  const tuples = await relations.tuplesOf(group);
  return tuples.flatMap(({ subject }) => holderOfSubject(subject, caller) ?? []);
}

/** Whether the user administers the installation. Claimed groups and agents do not count. */
export function administers(relations: Relations, { user }: TenantCaller): Promise<boolean> {
  return relations.check(userSubject(user), 'administer', controlPlane);
}

function tupleOf(
  caller: TenantCaller,
  { holder, relation, object }: { readonly holder: Holder; readonly relation: string; readonly object: string },
): Tuple {
  return { subject: subjectOfHolder(holder, caller), relation, object };
}
