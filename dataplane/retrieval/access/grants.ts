import type { AuditContent } from '#contracts/audit';
import { type CollectionGrant, grantLimits, type Holder } from '#contracts/retrieval-grants';
import type { TenantCaller } from '#identity/tenant-caller';
import { checkChange } from '#relations/check-change';
import { controlPlane } from '#relations/model';
import type { Relations, Tuple } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { type ChangePorts, changeNoted } from './change-relations.ts';
import { holderOfSubject, subjectOfHolder } from './holders.ts';

type Given = { readonly holder: Holder; readonly relation: string; readonly object: string };
/** The entry of the audit log about a tuple. */
type Entry = (tuple: Tuple) => AuditContent;

/** The outcome of a grant; `too_many` means that the object is at its limit of grants and unchanged. */
type GrantOutcome = 'given' | 'too_many';

/**
 * Grants a relation to an object. Granting it again changes nothing. Only a change is noted.
 * @throws RelationsUnavailableError: the relation may or may not have been granted
 * @throws RelationsModelError for a name that no store accepts
 */
export async function giveRelation(
  ports: ChangePorts,
  caller: TenantCaller,
  given: Given,
  entryOf: Entry,
): Promise<GrantOutcome> {
  const tuple = checked(tupleOf(caller, given));
  const change = { action: 'grant', tuple, entry: entryOf(tuple), most: grantLimits.listed } as const;
  return (await changeNoted(ports, change)) === 'too_many' ? 'too_many' : 'given';
}

/** Revokes a relation. Revoking an absent one changes nothing. Only a change is noted. Throws the same errors as `giveRelation`. */
export async function takeRelation(
  ports: ChangePorts,
  caller: TenantCaller,
  taken: Given,
  entryOf: Entry,
): Promise<void> {
  const tuple = checked(tupleOf(caller, taken));
  await changeNoted(ports, { action: 'revoke', tuple, entry: entryOf(tuple), most: grantLimits.listed });
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

/** Before anything is stored about it. @throws RelationsModelError */
function checked(tuple: Tuple): Tuple {
  checkChange([tuple]);
  return tuple;
}
