import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldPath, fieldProblems } from './field-problems.ts';

const schema = z.strictObject({
  list: z.array(z.strictObject({ name: z.string().min(2) })),
  choice: z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.int(), c: z.int() })]),
  kind: z.discriminatedUnion('type', [z.strictObject({ type: z.literal('x') })]),
});

function problems(input: unknown): readonly string[] {
  const parsed = schema.safeParse(input);
  if (parsed.success) return [];
  return fieldProblems(parsed.error, input).map(({ field, message }) => `${field}|${message}`);
}

test('every problem of an invalid object is listed with its path', () => {
  const found = problems({
    list: [{ name: 'ab' }, { name: 'a', more: 1 }],
    choice: { b: 1, c: 'x' },
    kind: {},
    'odd key': 1,
  });
  expect(found.map((one) => one.split('|')[0])).toEqual([
    'list[1].name',
    'list[1].more',
    'choice.c',
    'kind.type',
    '[odd key]',
  ]);
  expect(found).toContain('list[1].more|unknown field');
  expect(found).toContain('kind.type|is required');
});

test('a missing member is reported as required', () => {
  expect(problems({})).toEqual(['list|is required', 'choice|is required', 'kind|is required']);
});

test('paths of field problems have the notation of Kubernetes', () => {
  expect(fieldPath(['spec', 'rules', 0, 'id'])).toBe('spec.rules[0].id');
  expect(fieldPath(['metadata', 'labels', 'portcullis.dev/id'])).toBe('metadata.labels[portcullis.dev/id]');
  expect(fieldPath([])).toBe('');
});
