import { expect, test } from 'vitest';
import {
  changeMessageSchema,
  changeNoteAnnotation,
  noteOfGeneration,
  noteToken,
  readChangeNote,
  writeChangeNote,
} from './change-note.ts';

const note = { author: 'ann (command line)', message: 'first release' };
const noted = (value: string) => ({ [changeNoteAnnotation]: value });

test('the note of a write is read only by the token of that write', () => {
  const annotations = noted(writeChangeNote('t-1', note));
  expect(readChangeNote(annotations, 't-1')).toEqual(note);
  expect(readChangeNote(annotations, 't-2')).toBeUndefined();
  expect(readChangeNote(undefined, 't-1')).toBeUndefined();
});

test('a note belongs to the token of a policy or binding, and to the generation of another object', () => {
  const metadata = { generation: 3 };
  expect(noteToken({ kind: 'ModelBinding', spec: { apply: 'a-1' }, metadata })).toBe('a-1');
  expect(noteToken({ kind: 'GuardrailPolicy', spec: {}, metadata })).toBe('');
  expect(noteToken({ kind: 'Agent', spec: { apply: 'a-1' }, metadata })).toBe('generation 3');
});

test('the note of an object without a token is read for its generation only', () => {
  const object = (kind: string, generation: number) => ({
    apiVersion: 'portcullis.dev/v1alpha1',
    kind,
    metadata: {
      ...{ name: 'desk', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-31T09:00:00Z', generation },
      annotations: noted(writeChangeNote('generation 3', note)),
    },
    spec: {},
  });
  expect(noteOfGeneration(object('Agent', 3))).toEqual(note);
  for (const generation of [2, 4]) expect(noteOfGeneration(object('Agent', generation))).toBeUndefined();
  expect(noteOfGeneration(object('ModelBinding', 3))).toBeUndefined();
});

test.each([
  'no JSON',
  '[]',
  '{"token":"t-1","author":5}',
  '{"token":"t-1","unknown":"x"}',
  JSON.stringify({ token: 't-1', message: 'two\nlines' }),
  JSON.stringify({ token: 't-1', author: 'ann (Kubernetes user)' }),
  JSON.stringify({ token: 't-1', author: 'ann (Kubernetes user) ' }),
  JSON.stringify({ token: 't-1', author: 'ann (kubernetes\u00a0user)\u200b' }),
])('an annotation that is not a note is ignored: %s', (value) => {
  expect(readChangeNote(noted(value), 't-1')).toBeUndefined();
});

test.each([
  ['one character', 'a', true],
  ['no character', '', false],
  ['512 characters', 'я'.repeat(512), true],
  ['513 characters', 'a'.repeat(513), false],
  ['a line break', 'a\nb', false],
  ['a line separator', 'a\u2028b', false],
  ['an escape sequence of a terminal', '\u001b[31mred', false],
])('a message of %s is accepted or refused by its length and characters', (_name, text, isValid) => {
  expect(changeMessageSchema.safeParse(text).success).toBe(isValid);
});
