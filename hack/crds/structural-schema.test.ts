import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { structuralSchema } from './structural-schema.ts';

const arm = <K extends string>(kind: K) => ({ kind: z.literal(kind).describe('kind is the kind.') });

describe('converting a schema', () => {
  test('a structural schema keeps the limits of a schema, and has a type for each list and number', () => {
    const schema = z.strictObject({
      list: z.array(z.string().min(1).max(5)).max(2).describe('list is a list.'),
      small: z.int().min(0).max(2_147_483_647),
      large: z.int().min(0).max(2_147_483_648),
      time: z.iso.datetime().optional(),
      free: z.string().min(0).max(3),
    });
    expect(structuralSchema(schema)).toEqual({
      type: 'object',
      required: ['list', 'small', 'large', 'free'],
      properties: {
        list: {
          description: 'list is a list.',
          type: 'array',
          maxItems: 2,
          'x-kubernetes-list-type': 'atomic',
          items: { type: 'string', minLength: 1, maxLength: 5 },
        },
        small: { type: 'integer', format: 'int32', minimum: 0, maximum: 2_147_483_647 },
        large: { type: 'integer', format: 'int64', minimum: 0, maximum: 2_147_483_648 },
        time: { type: 'string', format: 'date-time', maxLength: 64 },
        free: { type: 'string', maxLength: 3 },
      },
    });
  });

  test.each([
    ['a number with a fraction', z.number()],
    ['null', z.strictObject({ a: z.string().nullable() })],
    ['a map', z.strictObject({ a: z.record(z.string(), z.string()) })],
    ['an object that accepts other members', z.looseObject({ a: z.string() })],
    ['anything', z.strictObject({ a: z.unknown() })],
    ['a pair', z.tuple([z.string(), z.string()])],
    ['a default', z.strictObject({ a: z.string().default('x') })],
    [
      'a union without a discriminator',
      z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]),
    ],
  ])('a schema that a structural schema cannot express is an error: %s', (_, schema) => {
    expect(() => structuralSchema(schema)).toThrow(TypeError);
  });
});

describe('converting a union', () => {
  test('a union becomes one object, with rules for the members of each value', () => {
    const schema = z.discriminatedUnion('kind', [
      z.strictObject({ ...arm('a'), name: z.string(), left: z.string() }),
      z.strictObject({ ...arm('b'), name: z.string(), right: z.string(), top: z.string() }),
      z.strictObject({ ...arm('c'), name: z.string(), right: z.string(), top: z.string() }),
    ]);
    const merged = structuralSchema(schema);
    expect(merged.required).toEqual(['kind', 'name']);
    expect(merged.properties?.kind).toEqual({
      description: 'kind is the kind.',
      type: 'string',
      enum: ['a', 'b', 'c'],
    });
    expect(merged['x-kubernetes-validations']).toEqual([
      {
        rule: "has(self.left) == (self.kind == 'a')",
        message: 'left is required where kind is a, and forbidden elsewhere',
        reason: 'FieldValueInvalid',
        fieldPath: '.left',
      },
      {
        rule: "[has(self.right), has(self.top)].all(present, present == (self.kind in ['b', 'c']))",
        message: 'right, top are required where kind is b or c, and forbidden elsewhere',
        reason: 'FieldValueInvalid',
      },
    ]);
  });

  test('the alternatives of a union may be distinguished by a boolean', () => {
    const schema = z.discriminatedUnion('on', [
      z.strictObject({ on: z.literal(true) }),
      z.strictObject({ on: z.literal(false), why: z.string() }),
    ]);
    const merged = structuralSchema(schema);
    expect(merged.properties?.on).toEqual({ type: 'boolean' });
    expect(merged['x-kubernetes-validations']?.map(({ rule }) => rule)).toEqual(['has(self.why) == (!self.on)']);
  });

  const wide = z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('deny') }),
    z.strictObject({ type: z.literal('mask'), text: z.string() }),
  ]);
  const narrow = z.strictObject({ type: z.literal('deny') });

  test('a union whose alternatives allow different values of a member has a rule for these values', () => {
    const merged = structuralSchema(
      z.discriminatedUnion('kind', [
        z.strictObject({ ...arm('local'), action: wide }),
        z.strictObject({ ...arm('remote'), action: narrow }),
        z.strictObject({ ...arm('far'), action: narrow }),
      ]),
    );
    expect(merged.properties?.action).toEqual(structuralSchema(wide));
    expect(merged['x-kubernetes-validations']).toEqual([
      {
        rule: "!(self.kind in ['remote', 'far']) || self.action.type == 'deny'",
        message: 'action.type is deny where kind is remote or far',
        reason: 'FieldValueInvalid',
        fieldPath: '.action.type',
      },
    ]);
  });

  test('an optional member of one alternative is forbidden in the others', () => {
    const schema = z.discriminatedUnion('kind', [
      z.strictObject({ ...arm('a') }),
      z.strictObject({ ...arm('b'), more: z.string().max(3).optional() }),
    ]);
    expect(structuralSchema(schema)).toMatchObject({
      required: expect.not.arrayContaining(['more']),
      'x-kubernetes-validations': [
        {
          rule: "!has(self.more) || self.kind == 'b'",
          message: 'more is allowed only where kind is b',
          reason: 'FieldValueInvalid',
          fieldPath: '.more',
        },
      ],
    });
  });

  test('a member that one alternative requires, one allows and one lacks is an error', () => {
    const schema = z.discriminatedUnion('kind', [
      z.strictObject({ ...arm('a') }),
      z.strictObject({ ...arm('b'), more: z.string().max(3).optional() }),
      z.strictObject({ ...arm('c'), more: z.string().max(3) }),
    ]);
    expect(() => structuralSchema(schema)).toThrow(TypeError);
  });

  test.each([
    ['a member of other types', z.strictObject({ ...arm('b'), name: z.int() })],
    ['a member of other limits', z.strictObject({ ...arm('b'), name: z.string().max(3) })],
  ])('a union is an error when its alternatives differ in %s', (_, other) => {
    const schema = z.discriminatedUnion('kind', [z.strictObject({ ...arm('a'), name: z.string() }), other]);
    expect(() => structuralSchema(schema)).toThrow(TypeError);
  });
});
