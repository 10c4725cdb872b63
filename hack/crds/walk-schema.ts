import type { StructuralSchema } from './structural-schema.ts';

/** A node of a schema with its place: `spec.tests[].name`; `name` is empty for an item of a list. */
export type Field = {
  readonly path: string;
  readonly name: string;
  readonly schema: StructuralSchema;
  /** The object that has it as a member. */
  readonly parent?: StructuralSchema;
};

/** Every node below a schema, from the top down. */
export function fieldsOf(schema: StructuralSchema, path = ''): readonly Field[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const place = path === '' ? name : `${path}.${name}`;
    return [{ path: place, name, schema: member, parent: schema }, ...fieldsOf(member, place)];
  });
  const { items } = schema;
  if (items === undefined) return members;
  return [...members, { path: `${path}[]`, name: '', schema: items }, ...fieldsOf(items, `${path}[]`)];
}
