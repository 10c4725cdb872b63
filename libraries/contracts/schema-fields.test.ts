import { expect, test } from 'vitest';
import { z } from 'zod';
import { findOtherPlace, requiredFields } from './schema-fields.ts';

const rule = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('stop_list'), id: z.string(), stopList: z.strictObject({ terms: z.string() }) }),
  z.strictObject({ kind: z.literal('regex'), id: z.string(), regex: z.strictObject({ pattern: z.string() }) }),
]);
const schema = z.strictObject({
  spec: z
    .strictObject({
      model: z.strictObject({ alias: z.string(), state: z.string() }).optional(),
      guard: z.strictObject({ state: z.string() }),
      replicas: z.int().default(1),
      rules: z.array(rule),
    })
    .readonly(),
});

test('a field that the schema has at one other path is found there, above or below', () => {
  expect(findOtherPlace(schema, ['spec', 'alias'])).toEqual({ kind: 'path', path: ['spec', 'model', 'alias'] });
  expect(findOtherPlace(schema, ['spec', 'model', 'replicas'])).toEqual({ kind: 'path', path: ['spec', 'replicas'] });
  expect(findOtherPlace(schema, ['replicas'])).toEqual({ kind: 'path', path: ['spec', 'replicas'] });
});

test('a field of another alternative of the same object is found with the field that selects the alternative', () => {
  const found = findOtherPlace(schema, ['spec', 'rules', 1, 'regex']);
  expect(found).toEqual({ kind: 'variant', field: 'kind', value: 'regex', fields: ['kind', 'id', 'regex'] });
});

test('a field that the schema has nowhere, or in several places, is not found', () => {
  expect(findOtherPlace(schema, ['spec', 'colour'])).toBeUndefined();
  expect(findOtherPlace(schema, ['spec', 'state'])).toBeUndefined();
  expect(findOtherPlace(schema, ['spec', 'rules', 0, 'terms'])).toBeUndefined();
  expect(findOtherPlace(schema, ['spec', 'rules', 0])).toBeUndefined();
});

test('the search for a field ends in a schema that contains itself through a list', () => {
  type Tree = { readonly name: string; readonly nodes: readonly Tree[]; readonly only?: Tree | undefined };
  const tree: z.ZodType<Tree> = z.strictObject({
    name: z.string(),
    get nodes() {
      return z.array(tree);
    },
    get only() {
      return tree.optional();
    },
  });
  expect(findOtherPlace(tree, ['nodes', 0, 'colour'])).toBeUndefined();
});

test('the required fields of an object are those without a default that are not optional', () => {
  expect(requiredFields(schema, ['spec'])).toEqual(['guard', 'rules']);
  expect(requiredFields(schema, ['spec', 'model'])).toEqual(['alias', 'state']);
  expect(requiredFields(schema, ['spec', 'rules', 0])).toEqual([]);
  expect(requiredFields(schema, ['spec', 'colour'])).toEqual([]);
});
