import { model, type RelationRule, type SubjectKind } from '../../model.ts';

type Rewrite =
  | { readonly this: Record<string, never> }
  | { readonly computedUserset: { readonly relation: string } }
  | {
      readonly tupleToUserset: {
        readonly tupleset: { readonly relation: string };
        readonly computedUserset: { readonly relation: string };
      };
    };
type Userset = Rewrite | { readonly union: { readonly child: Rewrite[] } };
type DirectType = { readonly type: string; readonly relation?: string };
type TypeDefinition = {
  readonly type: string;
  readonly relations?: Record<string, Userset>;
  readonly metadata?: { readonly relations: Record<string, { readonly directly_related_user_types: DirectType[] }> };
};

/** Subject types that are not object types. */
const subjectTypes = ['user'] as const;

/** The model in the form of OpenFGA, schema 1.1. */
export function authorizationModel(): { schema_version: string; type_definitions: TypeDefinition[] } {
  const objects = Object.entries(model).map(([type, relations]) => typeDefinition(type, relations));
  return { schema_version: '1.1', type_definitions: [...subjectTypes.map((type) => ({ type })), ...objects] };
}

function typeDefinition(type: string, relations: Readonly<Record<string, RelationRule>>): TypeDefinition {
  const rules = Object.entries(relations);
  return {
    type,
    relations: Object.fromEntries(rules.map(([name, rule]) => [name, usersetOf(rule)])),
    metadata: {
      relations: Object.fromEntries(
        rules.map(([name, { direct }]) => [name, { directly_related_user_types: direct.map(directType) }]),
      ),
    },
  };
}

function usersetOf({ also }: RelationRule): Userset {
  const own: Rewrite = { this: {} };
  if (also.length === 0) return own;
  const others = also.map((one): Rewrite => {
    const computedUserset = { relation: one.relation };
    return 'through' in one
      ? { tupleToUserset: { tupleset: { relation: one.through }, computedUserset } }
      : { computedUserset };
  });
  return { union: { child: [own, ...others] } };
}

function directType(kind: SubjectKind): DirectType {
  const [type = '', relation] = kind.split('#');
  return relation === undefined ? { type } : { type, relation };
}

/** Whether a model of a server equals this one; the server adds empty members. */
export function isSameModel(found: unknown): boolean {
  const { schema_version, type_definitions } = authorizationModel();
  if (typeof found !== 'object' || found === null) return false;
  const held = withoutEmpty(found) as { schema_version?: unknown; type_definitions?: unknown };
  return (
    sortedText({ schema_version, type_definitions }) ===
    sortedText({
      schema_version: held.schema_version,
      type_definitions: held.type_definitions,
    })
  );
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([, member]) => member !== '' && member !== null && member !== undefined,
  );
  const kept = members.map(([name, member]) => [name, withoutEmpty(member)] as const);
  // A type without relations has empty lists; `this: {}` is significant.
  return Object.fromEntries(kept.filter(([name, member]) => name === 'this' || JSON.stringify(member) !== '{}'));
}

function sortedText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
