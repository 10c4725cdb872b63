import { expect, test } from 'vitest';
import { endedWith } from './ended-with.ts';
import { extractFacts } from './extract-facts.ts';
import { samenessOf } from './sameness.ts';
import { type KnownMemory, settleFacts } from './settle-facts.ts';

const saidAt = new Date('2026-05-04T10:00:00Z');

const factsOf = (content: string) => extractFacts({ role: 'user', content, saidAt }, 0);

/** Texts of the known memories after an add; several memories have one topic because a person changed them by hand. */
function after(texts: readonly string[], said: string): readonly string[] {
  const known = texts.map(
    (text, at): KnownMemory => ({
      ...{ memoryId: `memory-${at}`, text, sameness: samenessOf(text), version: 1, statedAt: saidAt },
      topic: factsOf(text)[0]?.statement?.topic ?? null,
    }),
  );
  const decisions = settleFacts(factsOf(said), known);
  const left = new Map(known.map(({ memoryId, text }) => [memoryId, text]));
  for (const decision of decisions) {
    for (const id of endedWith(decision, decisions, known)) left.delete(id);
    if (decision.kind === 'DELETE') left.delete(decision.memoryId);
    if (decision.kind === 'UPDATE') left.set(decision.memoryId, decision.fact.text);
    if (decision.kind === 'ADD') left.set('new', decision.fact.text);
  }
  return [...left.values()].toSorted();
}

const twoHomes = ['I live in Rome', 'I live in Paris'];

test.each([
  ['a correction leaves the corrected one', twoHomes, 'I live in Lisbon.', ['I live in Lisbon']],
  ['a repetition of the first leaves the first', twoHomes, 'I live in Rome.', ['I live in Rome']],
  ['a repetition of the second leaves the second', twoHomes, 'I live in Paris.', ['I live in Paris']],
  [
    'the end of one of both leaves the other',
    twoHomes,
    'I no longer live in Rome.',
    ['I live in Paris', 'I no longer live in Rome'],
  ],
  ['a request to forget one leaves the other', twoHomes, 'Forget that I live in Rome.', ['I live in Paris']],
  ['a request to forget that names neither leaves none', twoHomes, 'Forget that I live in Oslo.', []],
  [
    'a memory of another topic stays',
    [...twoHomes, 'I work at Siemens'],
    'I live in Lisbon.',
    ['I live in Lisbon', 'I work at Siemens'],
  ],
  [
    'what a person can have several of stays',
    ['I like tea', 'I like rice'],
    'I like tea.',
    ['I like rice', 'I like tea'],
  ],
  [
    'a correction in Russian leaves the corrected one',
    ['Я живу в Риме', 'Я живу в Париже'],
    'Я живу в Казани.',
    ['Я живу в Казани'],
  ],
])('if memories share one topic, %s', (_, texts, said, expected) => {
  expect(after(texts, said)).toEqual(expected);
});
