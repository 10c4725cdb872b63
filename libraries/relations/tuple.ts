import { model, type ObjectType, ruleOf, type SubjectKind } from './model.ts';
import { type ObjectWindow, relationLimits } from './ports.ts';
import { RelationsModelError } from './relations-error.ts';

/**
 * One relation: the subject has the relation to the object. Subjects and objects are written `type:id`; the members of
 * a group are `#member`.
 */
export type Tuple = {
  /** The holder of the relation: `user:…`, `agent:…`, `group:…#member`, or `collection:…` for a parent. */
  readonly subject: string;
  readonly relation: string;
  /** `control_plane:…`, `policy:…`, `model:…`, `agent:…`, `collection:…`, `document:…` or `group:…`. */
  readonly object: string;
};

/** A tuple as one text: equal texts mean the same tuple. */
export function tupleText({ object, relation, subject }: Tuple): string {
  return `${object}#${relation}@${subject}`;
}

/** Longest object and subject in characters: the smaller limit of the stores. */
export const nameLimits = { object: 256, subject: 512 } as const;

/** An id has no white space, colon, hash or asterisk, because stores give them a meaning. */
const objectForm = /^([a-z_]+):([^\s:#*\u0000-\u001f\u007f]+)$/u;

/**
 * Refuses a tuple that the model does not allow.
 * @throws RelationsModelError
 */
export function checkTuple(tuple: Tuple): void {
  const rule = checkRelation(tuple.relation, tuple.object);
  const kind = kindOf(tuple.subject);
  if (kind === undefined || !rule.direct.includes(kind)) {
    const allowed = rule.direct.join(', ') || 'no subject';
    throw new RelationsModelError(
      'bad_subject',
      `${tuple.relation} of ${typeOf(tuple.object)} can be granted to: ${allowed}`,
    );
  }
  if (tuple.subject === `${tuple.object}#${tuple.relation}`) {
    throw new RelationsModelError('bad_subject', 'a group cannot be a member of itself');
  }
  if (kind === 'collection' && tuple.subject === tuple.object) {
    throw new RelationsModelError('bad_subject', 'a collection cannot be its own parent');
  }
  if (tenantOf(tuple.subject) !== tenantOf(tuple.object) && isOfTenant(tuple)) {
    throw new RelationsModelError(
      'bad_subject',
      'groups and parents have the tenant of the object that they belong to',
    );
  }
}

/** Whether both sides are objects with a tenant: groups and collections. */
function isOfTenant({ subject, object }: Tuple): boolean {
  return [subject, object].every((one) => /^(group|collection):/.test(one));
}

/** The tenant in the name of a group or collection (`tenant-object.ts`); empty for a name without a tenant. */
function tenantOf(name: string): string {
  const id = name.slice(name.indexOf(':') + 1);
  return id.includes('/') ? id.slice(0, id.indexOf('/')) : '';
}

/**
 * Refuses a check that the model does not allow; its subject must be one user or one agent.
 * @throws RelationsModelError
 */
export function checkQuestion(subject: string, relation: string, object: string): void {
  checkRelation(relation, object);
  const kind = kindOf(subject);
  if (kind !== 'user' && kind !== 'agent') {
    throw new RelationsModelError('bad_subject', 'the subject of a check must be one user: or one agent:');
  }
}

/**
 * Refuses a subject that is not a user or an agent, and claims that are too many or not groups.
 * @throws RelationsModelError
 */
export function checkClaims(subject: string, claimed: readonly string[]): void {
  const kind = kindOf(subject);
  if (kind !== 'user' && kind !== 'agent') {
    throw new RelationsModelError('bad_subject', 'the subject must be one user: or one agent:');
  }
  checkClaimed(claimed);
}

/**
 * Refuses the claims that checkClaims refuses, except for the members of a group as the subject.
 * @throws RelationsModelError
 */
export function checkHolder(subject: string, claimed: readonly string[]): void {
  if (kindOf(subject) !== 'group#member') checkClaims(subject, claimed);
  else checkClaimed(claimed);
}

function checkClaimed(claimed: readonly string[]): void {
  if (claimed.length > relationLimits.claimedGroups) {
    throw new RelationsModelError('too_many', `a call claims at most ${relationLimits.claimedGroups} groups`);
  }
  if (claimed.some((group) => kindOf(`${group}#member`) !== 'group#member')) {
    throw new RelationsModelError('bad_subject', 'a claimed group is group:id');
  }
}

/**
 * Refuses an object that the model does not have.
 * @throws RelationsModelError
 */
export function checkObject(object: string): void {
  const type = typeOf(object);
  if (type === undefined || !Object.hasOwn(model, type) || object.length > nameLimits.object) {
    throw new RelationsModelError('bad_object', `an object is type:id of at most ${nameLimits.object} characters`);
  }
}

/**
 * Refuses a relation that objects of the type do not have.
 * @throws RelationsModelError
 */
export function checkTypeRelation(relation: string, type: string): void {
  if (ruleOf(type, relation) !== undefined) return;
  throw new RelationsModelError('unknown_relation', 'the model has no such relation for this type of object');
}

/**
 * Refuses objects of several types, and a relation that the model does not have for their type.
 * @returns the type of the objects; undefined without an object
 * @throws RelationsModelError
 */
export function checkObjects(relation: string, objects: readonly string[]): ObjectType | undefined {
  for (const object of objects) checkRelation(relation, object);
  const types = new Set(objects.map(typeOf));
  if (types.size > 1) throw new RelationsModelError('bad_object', 'the objects of one call have one type');
  const [type] = types;
  // `checkRelation` has refused every other type.
  return type as ObjectType | undefined;
}

/** @throws RelationsModelError for a window without an object */
export function checkWindow({ limit }: ObjectWindow): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return;
  throw new RelationsModelError('too_many', 'the limit of a list of objects is at least 1');
}

function checkRelation(relation: string, object: string) {
  const type = typeOf(object);
  if (type === undefined || object.length > nameLimits.object) {
    throw new RelationsModelError('bad_object', `an object is type:id of at most ${nameLimits.object} characters`);
  }
  const rule = ruleOf(type, relation);
  if (rule === undefined) {
    throw new RelationsModelError('unknown_relation', 'the model has no such relation for this type of object');
  }
  return rule;
}

function typeOf(object: string): string | undefined {
  return object.isWellFormed() ? objectForm.exec(object)?.[1] : undefined;
}

function kindOf(subject: string): SubjectKind | undefined {
  if (subject.length > nameLimits.subject) return undefined;
  const [, name = '', relation] = /^([^#]*)(#member)?$/.exec(subject) ?? [];
  const type = typeOf(name);
  if (relation !== undefined) return type === 'group' ? 'group#member' : undefined;
  switch (type) {
    case 'user':
    case 'agent':
    case 'collection':
      return type;
    default:
      return undefined;
  }
}
