import type { TenantCaller } from '#identity/tenant-caller';
import type { Relations, Tuple } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { agentSubject, userSubject } from '#relations/subject';
import { collectionObject, groupObject, isGroupOf, readCollectionObject } from '#relations/tenant-object';
import { ownerLabel, publicLabel, userLabel } from './document-labels.ts';

/** The properties of a collection that decide access, in addition to relations. */
export type GuardedCollection = {
  readonly tenant: string;
  readonly collectionId: string;
  readonly visibility: 'private' | 'public';
  readonly aclModel: 'document' | 'collection';
};

/*
 * Every function queries the store of relations again, so that a revoked right has no effect on the next request
 * (retrieval:acl:revoked-next-request), and throws RelationsUnavailableError if the store does not answer. A collection
 * of another tenant grants no right. Claimed groups count for the user, never for the agent.
 */

/** Whether the user, or the agent that acts for the user, may read the collection. */
export async function mayRead(
  relations: Relations,
  caller: TenantCaller,
  collection: GuardedCollection,
): Promise<boolean> {
  const { agent } = caller;
  if (await userReads(relations, caller, collection)) return true;
  if (agent === undefined || collection.tenant !== caller.tenant) return false;
  return relations.check(agentSubject(agent), 'reader', objectOf(collection));
}

/**
 * Whether the user, or the acting integration service, may write the collection (retrieval:role:writer-integration).
 */
export async function mayWrite(
  relations: Relations,
  caller: TenantCaller,
  collection: Pick<GuardedCollection, 'tenant' | 'collectionId'>,
): Promise<boolean> {
  if (await userWrites(relations, caller, collection)) return true;
  const { agent } = caller;
  if (agent === undefined || collection.tenant !== caller.tenant) return false;
  return relations.check(agentSubject(agent), 'writer', objectOf(collection));
}

/**
 * Whether the user may write the collection: which documents a writer sees depends on the user, not on the agent that
 * acts for the user.
 */
export async function userWrites(
  relations: Relations,
  caller: TenantCaller,
  collection: Pick<GuardedCollection, 'tenant' | 'collectionId'>,
): Promise<boolean> {
  if (collection.tenant !== caller.tenant) return false;
  return relations.check(userSubject(caller.user), 'writer', objectOf(collection), claimedGroups(caller));
}

/** Whether the user owns the collection. An agent is never an owner and cannot act for one by its own rights. */
export async function owns(
  relations: Relations,
  caller: TenantCaller,
  collection: Pick<GuardedCollection, 'tenant' | 'collectionId'>,
): Promise<boolean> {
  if (collection.tenant !== caller.tenant) return false;
  return relations.check(userSubject(caller.user), 'owner', objectOf(collection));
}

/**
 * The labels with which the user sees documents of a collection that the request may read; `every` if the right to read
 * the collection decides. The agent adds no labels (retrieval:acl:user-not-agent).
 */
export async function visibleLabels(
  relations: Relations,
  caller: TenantCaller,
  collection: GuardedCollection,
): Promise<readonly string[] | 'every'> {
  if (collection.tenant !== caller.tenant) return [];
  if (collection.aclModel === 'collection') return (await userReads(relations, caller, collection)) ? 'every' : [];
  const user = userSubject(caller.user);
  const [groups, isOwner] = await Promise.all([
    relations.groupsOf(user, claimedGroups(caller)),
    relations.check(user, 'owner', objectOf(collection)),
  ]);
  return [
    ...groups.filter((group) => isGroupOf(caller.tenant, group)),
    ...[caller.user, ...caller.principals].map(userLabel),
    ...(isOwner ? [ownerLabel] : []),
    ...(collection.visibility === 'public' ? [publicLabel] : []),
  ];
}

/**
 * Ids of the collections of the tenant that the request may read by a relation, without the public ones. `too_many` if
 * the caller has more relations than the store lists: `readableAmong` must be used then.
 */
export async function readableCollections(
  relations: Relations,
  caller: TenantCaller,
): Promise<readonly string[] | 'too_many'> {
  const { tenant, user, agent } = caller;
  try {
    const lists = await Promise.all([
      relations.objectsOf(userSubject(user), 'reader', 'collection', claimedGroups(caller)),
      agent === undefined ? [] : relations.objectsOf(agentSubject(agent), 'reader', 'collection'),
    ]);
    const ids = lists.flat().map((object) => readCollectionObject(tenant, object));
    return [...new Set(ids.filter((id) => id !== undefined))];
  } catch (error) {
    if (error instanceof RelationsModelError && error.code === 'too_complex') return 'too_many';
    throw error;
  }
}

/** The collections among some of the tenant that the request may read by a relation: each is checked. */
export async function readableAmong(
  relations: Relations,
  caller: TenantCaller,
  collectionIds: readonly string[],
): Promise<readonly string[]> {
  const { tenant, user, agent } = caller;
  const objects = collectionIds.map((collectionId) => objectOf({ tenant, collectionId }));
  const answers = await Promise.all([
    relations.checkEach(userSubject(user), 'reader', objects, claimedGroups(caller)),
    agent === undefined ? [] : relations.checkEach(agentSubject(agent), 'reader', objects),
  ]);
  return collectionIds.filter((_id, at) => answers.some((answer) => answer[at] === true));
}

/**
 * The initial tuples of a collection of the caller: its owner, and its parent, which the caller must be allowed to
 * write. The calling function has already found the parent in the tenant.
 */
export async function beginningOf(
  relations: Relations,
  caller: TenantCaller,
  collectionId: string,
  parentId: string | undefined,
): Promise<'forbidden' | { readonly object: string; readonly tuples: readonly Tuple[] }> {
  const { tenant } = caller;
  const object = collectionObject(tenant, collectionId);
  const owner = { subject: userSubject(caller.user), relation: 'owner', object };
  if (parentId === undefined) return { object, tuples: [owner] };
  const parent = { tenant, collectionId: parentId };
  if (!(await mayWrite(relations, caller, parent))) return 'forbidden';
  return { object, tuples: [owner, { subject: objectOf(parent), relation: 'parent', object }] };
}

async function userReads(relations: Relations, caller: TenantCaller, collection: GuardedCollection): Promise<boolean> {
  if (collection.tenant !== caller.tenant) return false;
  if (collection.visibility === 'public') return true;
  return relations.check(userSubject(caller.user), 'reader', objectOf(collection), claimedGroups(caller));
}

function claimedGroups({ tenant, groups }: TenantCaller): readonly string[] {
  return groups.map((name) => groupObject(tenant, name));
}

function objectOf({ tenant, collectionId }: Pick<GuardedCollection, 'tenant' | 'collectionId'>): string {
  return collectionObject(tenant, collectionId);
}
