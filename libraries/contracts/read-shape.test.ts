import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldPath, fieldProblems, readShape } from './read-shape.ts';

const schema = z.strictObject({
  list: z.array(z.strictObject({ name: z.string().min(2) })),
  choice: z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.int(), c: z.int() })]),
  kind: z.discriminatedUnion('type', [z.strictObject({ type: z.literal('x') })]),
});

function problems(input: unknown, given: z.ZodType = schema): readonly string[] {
  const read = readShape(given, input);
  return read.ok ? [] : fieldProblems(read.problems).map(({ field, message }) => `${field}|${message}`);
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
  expect(found).toContain('list[1].more|is an unknown field');
  expect(found).toContain('kind.type|is required');
});

test('a missing member is reported as required', () => {
  expect(problems({})).toEqual(['list|is required', 'choice|is required', 'kind|is required']);
});

test.each<[string, z.ZodType, unknown, string]>([
  ['a type', z.string(), [], 'must be a string'],
  ['a number in place of a text', z.string(), 1, 'must be a string: quote it'],
  ['a switch in quotes', z.boolean(), 'true', 'must be true or false: remove the quotes'],
  ['a duration with a unit', z.int(), '250ms', 'must be a whole number: remove the unit'],
  ['a fraction', z.int(), 1.5, 'must be a whole number'],
  ['a switch', z.boolean(), 'yes', 'must be true or false'],
  ['a list', z.array(z.string()), {}, 'must be a list'],
  ['an object', z.strictObject({}), [], 'must be an object'],
  ['a map', z.record(z.string(), z.string()), 'x', 'must be an object'],
  ['an empty text', z.string().min(1), '', 'must not be empty'],
  ['a short text', z.string().min(3), 'ab', 'must have at least 3 characters'],
  ['a long text', z.string().max(2), 'abc', 'must have at most 2 characters'],
  ['a long list', z.array(z.int()).max(1), [1, 2], 'must have at most 1 entries'],
  ['a low number', z.int().min(1), 0, 'must be at least 1'],
  ['a high number', z.int().max(5), 6, 'must be at most 5'],
  ['an open bound', z.number().gt(0), 0, 'must be more than 0'],
  ['a word', z.enum(['Pass', 'Deny']), 'pass', 'must be one of "Pass", "Deny"'],
  ['a constant', z.literal('v1'), 'v2', 'must be "v1"'],
  ['a pattern', z.string().regex(/^a+$/), 'b', 'must match /^a+$/'],
  [
    'a pattern with a sentence',
    z.string().regex(/^a+$/, 'must hold the letter a only'),
    'b',
    'must hold the letter a only',
  ],
  ['an id', z.uuid(), 'x', 'must be a UUID'],
  ['an address', z.url(), 'x', 'must be a URL'],
  ['a time', z.iso.datetime(), 'x', 'must be a time such as 2026-01-02T03:04:05Z'],
  ['types that are all wrong', z.union([z.string(), z.int()]), true, 'has none of the allowed forms'],
  ['a text of digits for a number', z.int(), '1', 'must be a whole number: remove the quotes'],
  ['a text for a fraction', z.number(), 'x', 'must be a number'],
  ['another variant', z.discriminatedUnion('k', [z.strictObject({ k: z.literal('x') })]), { k: 'y' }, 'must be "x"'],
  [
    'another variant of two',
    z.discriminatedUnion('k', [z.strictObject({ k: z.literal('x') }), z.strictObject({ k: z.literal('z') })]),
    { k: 'y' },
    'must be one of "x", "z"',
  ],
])('the problem of %s is a plain sentence without the value', (_, given, input, message) => {
  expect(problems(input, given).map((one) => one.split('|')[1])).toEqual([message]);
});

test('a field that the schema does not have is reported with the fields that it has', () => {
  const read = readShape(schema, {
    list: [{ nam: 'ab', name: 'ab' }],
    choice: { a: '' },
    kind: { type: 'x' },
    knid: 1,
  });
  const unknown = read.ok ? [] : read.problems.filter(({ isUnknown }) => isUnknown);
  expect(unknown.map(({ path, known }) => [fieldPath(path), known])).toEqual([
    ['list[0].nam', ['name']],
    ['knid', ['list', 'choice', 'kind']],
  ]);
});

test('paths of field problems have the notation of Kubernetes', () => {
  expect(fieldPath(['spec', 'rules', 0, 'id'])).toBe('spec.rules[0].id');
  expect(fieldPath(['metadata', 'labels', 'portcullis.dev/id'])).toBe('metadata.labels[portcullis.dev/id]');
  expect(fieldPath([])).toBe('');
});
