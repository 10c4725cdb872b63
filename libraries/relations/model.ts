/** Who may be given a relation directly: every user, every agent, the members of a group, or another object. */
export type SubjectKind = 'user' | 'agent' | 'group#member' | 'collection';

/** What gives a relation beside a tuple of its own. */
export type Implication =
  /** Whoever has the other relation to the same object. */
  | { readonly relation: string }
  /** Whoever has `relation` to the object that `through` names: read on a parent collection passes to its children. */
  | { readonly relation: string; readonly through: string };

export type RelationRule = { readonly direct: readonly SubjectKind[]; readonly also: readonly Implication[] };

const people = ['user', 'agent', 'group#member'] as const;
const given = { direct: people, also: [] } as const satisfies RelationRule;

/**
 * Every type of object, its relations, and who has them (documents 2 and 3). `invoke` does not give `view` nor the other
 * way round. A document whose collection decides on it has its collection as `parent`, one that decides itself has none.
 */
export const model = {
  group: {
    member: given,
  },
  control_plane: {
    administer: { direct: ['user', 'group#member'], also: [] },
  },
  agent: {
    view: given,
    invoke: given,
  },
  collection: {
    parent: { direct: ['collection'], also: [] },
    owner: given,
    writer: { direct: people, also: [{ relation: 'owner' }] },
    reader: { direct: people, also: [{ relation: 'writer' }, { relation: 'reader', through: 'parent' }] },
  },
  document: {
    parent: { direct: ['collection'], also: [] },
    viewer: { direct: people, also: [{ relation: 'reader', through: 'parent' }] },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, RelationRule>>>>;

export type ObjectType = keyof typeof model;

/** The object of the right to administer this installation. */
export const controlPlane = 'control_plane:control-plane';

/** The rule of a relation; undefined where the model has none. */
export function ruleOf(type: string, relation: string): RelationRule | undefined {
  const relations: Readonly<Record<string, RelationRule>> | undefined = Object.hasOwn(model, type)
    ? model[type as ObjectType]
    : undefined;
  return relations !== undefined && Object.hasOwn(relations, relation) ? relations[relation] : undefined;
}
