import { expect, test } from 'vitest';
import type { JsonValue } from '#kit/json/json-value';
import { createNotes } from './compile-notes.ts';
import { compileCondition, holds } from './condition.ts';
import type { Scope } from './reference.ts';
import { compileTemplate, renderTemplate } from './template.ts';
import { compileValue, evaluateValue } from './value.ts';

const ref = (path: string): string => `\${${path}}`;
const scopeOf = (input: JsonValue): Scope => ({
  input,
  context: { userId: 'ann' },
  state: () => ({ turn: 1 }),
  item: () => ['a', 'b'],
  output: (node) => (node === 'one' ? { text: 'done' } : undefined),
});
const scope = scopeOf({
  question: 'why?',
  list: [{ n: 1 }],
  nothing: null,
  tricky: `${ref('context.userId')} {{context}}`,
});

const resultOf = (value: JsonValue): JsonValue => {
  const notes = createNotes();
  const compiled = compileValue(value, [], notes);
  expect(notes.problems).toEqual([]);
  return evaluateValue(compiled, scope);
};

test.each([
  [ref('input.question'), 'why?'],
  [ref('input.list[0].n'), 1],
  [ref('input.nothing'), null],
  [ref('context.userId'), 'ann'],
  [ref('state'), { turn: 1 }],
  [ref('item[1]'), 'b'],
  [ref('nodes.one.output.text'), 'done'],
  [
    [ref('input.question'), { a: ref('item[0]') }],
    ['why?', { a: 'a' }],
  ],
  [{ from: ref('input.absent'), default: 5 }, 5],
  [{ from: ref('input.nothing'), default: 5 }, null],
  [{ literal: ref('input.question') }, ref('input.question')],
  ['plain', 'plain'],
])('the flow expression %j evaluates to %j', (value, expected) => {
  expect(resultOf(value)).toEqual(expected);
});

test('the value of a flow expression is not searched for further expressions', () => {
  expect(resultOf(ref('input.tricky'))).toBe(`${ref('context.userId')} {{context}}`);
  const template = compileTemplate('{{input.tricky}}', [], createNotes());
  expect(renderTemplate(template, scope)).toBe(`${ref('context.userId')} {{context}}`);
});

test.each([
  'input.constructor',
  'input.list.length',
  'input.list[1]',
  'input.question.length',
  'input.question[0]',
  'input.__proto__',
])('the flow expression %s names no member of the input, and has no value', (path) => {
  expect(() => resultOf(ref(path))).toThrow(expect.objectContaining({ code: 'path_missing' }));
});

test('a flow template inserts texts unchanged and other values as JSON', () => {
  const notes = createNotes();
  const template = compileTemplate('Q: {{ input.question }} {{input.list}} \\{{x}} {{input.nothing}}', [], notes);
  expect(notes.problems).toEqual([]);
  expect(renderTemplate(template, scope)).toBe('Q: why? [{"n":1}] {{x}} null');
});

test('the result of a flow template has at most 1048576 bytes', () => {
  const template = compileTemplate('{{input}}', [], createNotes());
  expect(renderTemplate(template, scopeOf('x'.repeat(1_048_576)))).toHaveLength(1_048_576);
  expect(() => renderTemplate(template, scopeOf('x'.repeat(1_048_577)))).toThrow(
    expect.objectContaining({ code: 'output_invalid' }),
  );
});

test('a flow template has at most 65536 bytes', () => {
  const problems = (text: string) => {
    const notes = createNotes();
    compileTemplate(text, [], notes);
    return notes.problems;
  };
  expect(problems('x'.repeat(65_536))).toEqual([]);
  expect(problems('x'.repeat(65_537))).toMatchObject([{ code: 'template' }]);
});

test('a flow expression has at most 16 steps, and an index of a list is at most 99999', () => {
  const problems = (path: string) => {
    const notes = createNotes();
    compileValue(ref(path), [], notes);
    return notes.problems;
  };
  expect(problems(`input${'.a'.repeat(16)}`)).toEqual([]);
  expect(problems(`input${'.a'.repeat(17)}`)).toMatchObject([{ message: 'has more than 16 steps' }]);
  expect(problems('input[99999]')).toEqual([]);
  expect(problems('input[100000]')).toMatchObject([{ message: 'has an index above 99999' }]);
});

const decide = (source: object, input: JsonValue = 'abc'): boolean => {
  const notes = createNotes();
  const condition = compileCondition(source as never, [], notes);
  expect(notes.problems).toEqual([]);
  return holds(condition, scopeOf(input));
};

test.each([
  [
    {
      eq: [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
    },
    true,
  ],
  [{ eq: [1, '1'] }, false],
  [
    {
      eq: [
        [1, 2],
        [2, 1],
      ],
    },
    false,
  ],
  [{ eq: [[], {}] }, false],
  [{ eq: [{ a: 1 }, { b: 1 }] }, false],
  [{ ne: [null, false] }, true],
  [{ lt: [1, 2] }, true],
  [{ lt: [2, 2] }, false],
  [{ le: [2, 2] }, true],
  [{ gt: ['b', 'a'] }, true],
  [{ ge: ['a', 'b'] }, false],
  [{ in: ['a', ['a', 'b']] }, true],
  [{ in: ['c', ['a', 'b']] }, false],
  [{ exists: ref('input') }, true],
  [{ exists: ref('input.a') }, false],
  [{ matches: [ref('input'), '^a.c$'] }, true],
  [{ matches: [ref('input'), '^b'] }, false],
  [{ and: [{ eq: [1, 1] }, { eq: [1, 2] }] }, false],
  [{ or: [{ eq: [1, 2] }, { eq: [1, 1] }] }, true],
  [{ not: { eq: [1, 2] } }, true],
])('the flow condition %j is %j', (source, expected) => {
  expect(decide(source)).toBe(expected);
});

test.each([{ lt: [1, 'a'] }, { gt: [null, 1] }, { in: [1, 1] }, { matches: [1, 'a'] }])(
  'the flow condition %j with values of another type is a typed error, neither true nor false',
  (source) => {
    expect(() => decide(source)).toThrow(expect.objectContaining({ code: 'type_mismatch' }));
  },
);

test('a pattern in a flow condition reads at most 32768 bytes, and has at most 500 instructions', () => {
  expect(decide({ matches: [ref('input'), 'x$'] }, 'x'.repeat(32_768))).toBe(true);
  expect(() => decide({ matches: [ref('input'), 'x$'] }, 'x'.repeat(32_769))).toThrow(
    expect.objectContaining({ code: 'type_mismatch' }),
  );
  const problems = (pattern: string) => {
    const notes = createNotes();
    compileCondition({ matches: ['a', pattern] }, [], notes);
    return notes.problems;
  };
  expect(problems('a'.repeat(400))).toEqual([]);
  expect(problems('a'.repeat(600))).toMatchObject([{ code: 'pattern' }]);
});

test('a flow condition has at most 256 terms and 16 levels', () => {
  const problems = (source: object) => {
    const notes = createNotes();
    compileCondition(source as never, [], notes);
    return notes.problems;
  };
  const terms = (count: number): object => ({ and: Array.from({ length: count - 1 }, () => ({ eq: [1, 1] })) });
  expect(problems(terms(256))).toEqual([]);
  expect(problems(terms(257))).toMatchObject([{ code: 'condition' }]);
  const deep = (levels: number): object => (levels === 1 ? { eq: [1, 1] } : { not: deep(levels - 1) });
  expect(problems(deep(16))).toEqual([]);
  expect(problems(deep(17))).toMatchObject([{ code: 'condition' }]);
});
