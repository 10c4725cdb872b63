/** Subjects that a relation can be granted to: a user, an agent, the members of a group, or another object. */
export type SubjectKind = 'user' | 'agent' | 'group#member' | 'collection';

/** The way in which a relation of the model follows from another relation. */
type Implication =
  /** The relation follows from another relation to the same object. */
  | { readonly relation: string }
  /**
   * The relation follows from `relation` to the object that `through` leads to: readers of a parent collection can read
   * its children.
   */
  | { readonly relation: string; readonly through: string };

export type RelationRule = { readonly direct: readonly SubjectKind[]; readonly also: readonly Implication[] };

const people = ['user', 'agent', 'group#member'] as const;
const given = { direct: people, also: [] } as const satisfies RelationRule;
/** Rights to the control plane belong to people: an agent acts for a person, and needs the right of a user. */
const staff = ['user', 'group#member'] as const;

/**
 * Every type of object with its relations. `invoke` and `view` do not follow from each other. A document that inherits
 * the readers of its collection has that collection as `parent`; a document with its own access list has no parent.
 */
export const model = {
  group: {
    member: given,
  },
  control_plane: {
    administer: { direct: staff, also: [] },
    author: { direct: staff, also: [{ relation: 'administer' }] },
    applier: { direct: staff, also: [{ relation: 'administer' }] },
    viewer: { direct: staff, also: [{ relation: 'author' }, { relation: 'applier' }] },
  },
  policy: {
    author: { direct: staff, also: [] },
    viewer: { direct: staff, also: [{ relation: 'author' }] },
  },
  model: {
    applier: { direct: staff, also: [] },
    viewer: { direct: staff, also: [{ relation: 'applier' }] },
  },
  agent: {
    owner: { direct: ['user'], also: [] },
    view: given,
    invoke: given,
  },
  collection: {
    parent: { direct: ['collection'], also: [] },
    owner: { direct: ['user'], also: [] },
    writer: { direct: people, also: [{ relation: 'owner' }] },
    reader: { direct: people, also: [{ relation: 'writer' }, { relation: 'reader', through: 'parent' }] },
  },
  document: {
    parent: { direct: ['collection'], also: [] },
    viewer: { direct: people, also: [{ relation: 'reader', through: 'parent' }] },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, RelationRule>>>>;

export type ObjectType = keyof typeof model;

/** The object of the permission control_plane:control-plane#administer. */
export const controlPlane = 'control_plane:control-plane';

/** The rule of a relation; undefined if the model has no such relation. */
export function ruleOf(type: string, relation: string): RelationRule | undefined {
  const relations: Readonly<Record<string, RelationRule>> | undefined = Object.hasOwn(model, type)
    ? model[type as ObjectType]
    : undefined;
  return relations !== undefined && Object.hasOwn(relations, relation) ? relations[relation] : undefined;
}

/**
 * Whether the relation is granted only by tuples to an object directly or to the members of a group: not by another
 * relation, a parent or an object of the type.
 */
export function isGrantedOnly(type: ObjectType, relation: string): boolean {
  const rule = ruleOf(type, relation);
  return type !== 'group' && rule !== undefined && rule.also.length === 0;
}
