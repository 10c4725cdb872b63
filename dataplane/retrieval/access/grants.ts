import type { AuditContent } from '#contracts/audit';
import { type CollectionGrant, grantLimits, type Holder } from '#contracts/retrieval-grants';
import type { TenantCaller } from '#identity/tenant-caller';
import type { RecordedChanges } from '#relations/changes/recorded-changes';
import { checkChange } from '#relations/check-change';
import { controlPlane } from '#relations/model';
import type { Relations, Tuple } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { holderOfSubject, subjectOfHolder } from './holders.ts';

type Given = { readonly holder: Holder; readonly relation: string; readonly object: string };
/** The entry of the audit log about a tuple. */
type Entry = (tuple: Tuple) => AuditContent;

/**
 * Grants or revokes a relation to an object. Doing so again changes nothing. Only a change is noted.
 * @returns `too_many` if the object is at its limit of grants, and `forbidden`; nothing has changed then
 * @throws UndecidedChangeError: the relation may have changed
 * @throws RelationsUnavailableError, RelationsModelError for a name that no store accepts: nothing has changed
 */
export async function changeGrant(
  changes: Pick<RecordedChanges, 'change'>,
  caller: TenantCaller,
  change: Given & {
    readonly action: 'grant' | 'revoke';
    readonly entryOf: Entry;
    /** Whether the caller may make the change when its turn has come. */
    readonly isPermitted: () => Promise<boolean>;
  },
): Promise<'changed' | 'unchanged' | 'too_many' | 'forbidden'> {
  const { action, object, entryOf, isPermitted } = change;
  const tuple = checked(tupleOf(caller, change));
  return changes.change<'too_many' | 'forbidden'>({
    action,
    object,
    tuples: [tuple],
    entryOf,
    refusalOfAuthor: async () => ((await isPermitted()) ? undefined : 'forbidden'),
    refusalOfHeld: (held) => (action === 'grant' && held.length >= grantLimits.listed ? 'too_many' : undefined),
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

/** Whether the user administers the installation. Claimed groups and agents are ignored. */
export function administers(relations: Relations, { user }: TenantCaller): Promise<boolean> {
  return relations.check(userSubject(user), 'administer', controlPlane);
}

function tupleOf(
  caller: TenantCaller,
  { holder, relation, object }: { readonly holder: Holder; readonly relation: string; readonly object: string },
): Tuple {
  return { subject: subjectOfHolder(holder, caller), relation, object };
}

/** This check precedes everything that is stored about the change. @throws RelationsModelError */
function checked(tuple: Tuple): Tuple {
  checkChange([tuple]);
  return tuple;
}
