import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

type Known = readonly { readonly memory: number; readonly text: string }[];
type Answer = (known: Known) => Promise<readonly object[]> | readonly object[];

const fact = (text: string, more: object = {}) => ({
  ...{ decision: 'ADD', text, quote: text, message: 0, memory: null, importance: 4, ...more },
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('memories that a decision of a model refers to'), () => {
  let memory: OpenedMemory;
  let answer: Answer = () => [];
  let calls = 0;
  const answers = (next: Answer) => {
    answer = next;
    calls = 0;
  };
  /** Adds a memory for a user and returns its path. */
  const told = async (user: { readonly user: string }, text: string): Promise<string> => {
    answers(() => [fact(text)]);
    const { memory_ids } = await memory.say(user, text);
    return `/v1/memories/${(memory_ids as readonly string[])[0]}`;
  };

  beforeAll(async () => {
    const complete = async (_alias: string, { user }: { readonly user: string }) => {
      calls += 1;
      return JSON.stringify({ facts: await answer((JSON.parse(user) as { readonly known: Known }).known) });
    };
    memory = await openMemory({
      overrides: { models: { ...hashedWords(), complete } },
      config: { extractionModel: 'reader' },
    });
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  test.each([
    ['was deleted', 'DELETE', undefined, ['I like tea']],
    ['got another text', 'PUT', { text: 'I drink coffee' }, ['I like tea', 'I drink coffee']],
  ])('a fact that the model calls known is stored if its memory %s meanwhile', async (_what, method, body, left) => {
    const user = { user: `known-${method}` };
    const path = await told(user, 'I am fond of tea');
    answers(async (known) => {
      if (calls === 1) await memory.call(user, method, path, body);
      const isKnown = known.some(({ text }) => text === 'I am fond of tea');
      return [fact('I like tea', isKnown ? { decision: 'NONE', memory: 0 } : {})];
    });
    expect(await memory.say(user, 'I like tea')).toMatchObject({ status: 'SUCCEEDED', decisions: [{ reason: 'new' }] });
    expect(calls).toBe(2);
    expect([...(await memory.all(user))].sort()).toEqual([...left].sort());
  });

  test('a fact about the topic of a memory that the same answer deletes becomes a separate memory', async () => {
    const user = { user: 'forgets-and-states' };
    const path = await told(user, 'I live in Rome');
    answers(() => [
      fact('Forget that I live in Rome', { decision: 'DELETE', memory: 0 }),
      fact('I live in Oslo', { message: 1 }),
    ]);
    const event = await memory.say(user, 'Forget that I live in Rome', 'I live in Oslo');
    expect(event).toMatchObject({ decisions: [{ decision: 'DELETE' }, { decision: 'ADD', reason: 'new' }] });
    expect(await memory.all(user)).toEqual(['I live in Oslo']);
    expect((await memory.call(user, 'GET', path)).status).toBe(404);
  });

  const update = { decision: 'UPDATE', memory: 0 };
  const forget = { decision: 'DELETE', memory: 0 };
  const known = { decision: 'NONE', memory: 0 };

  test.each([
    ['two new facts', [], ['I live in Rome', 'I moved to Oslo'], [{}, {}], ['I moved to Oslo']],
    [
      'a changed fact and the known one',
      ['London'],
      ['I live in Rome', 'I live in London'],
      [update, known],
      ['I live in London'],
    ],
    [
      'a changed fact and one that is not known',
      ['London'],
      ['I live in Rome', 'I like tea'],
      [update, known],
      ['I live in Rome'],
    ],
    [
      'two changes of one memory',
      ['London'],
      ['I live in Rome', 'I moved to Oslo'],
      [update, update],
      ['I moved to Oslo'],
    ],
    [
      'a change and a request to forget it',
      ['London'],
      ['I live in Rome', 'Actually forget where I live'],
      [update, forget],
      [],
    ],
    [
      'a new fact and a request to forget it',
      ['London'],
      ['I live in Rome', 'Forget that I live in Rome'],
      [{}, forget],
      [],
    ],
    [
      'a change and a request to forget what it replaced',
      ['London'],
      ['I live in Rome', 'Forget that I live in London'],
      [update, forget],
      ['I live in Rome'],
    ],
    [
      'a request to forget and a change of the same memory',
      ['London'],
      ['Forget where I live', 'I live in Rome'],
      [forget, update],
      ['I live in Rome'],
    ],
    [
      'a new fact and the end of another value',
      [],
      ['I live in Oslo', 'I no longer live in Rome'],
      [{}, {}],
      ['I live in Oslo', 'I no longer live in Rome'],
    ],
    [
      'changes of one memory by facts about two topics',
      ['London'],
      ['I live in Rome', 'I work at Nokia'],
      [update, update],
      ['I live in Rome', 'I work at Nokia'],
    ],
    [
      'changes of one memory by facts about two topics, the other one first',
      ['London'],
      ['I work at Nokia', 'I live in Rome'],
      [update, {}],
      ['I live in Rome', 'I work at Nokia'],
    ],
    [
      'a fact about another topic and a request to forget the memory that it changes',
      ['London'],
      ['I work at Nokia', 'Forget where I live'],
      [update, forget],
      ['I work at Nokia'],
    ],
  ])('of %s in one add the most recent statement counts', async (what, homes, said, decided, left) => {
    const user = { user: what.replaceAll(' ', '-').replaceAll(',', '') };
    for (const home of homes) await told(user, `I live in ${home}`);
    // The answer lists the facts in the order in which they were said, and then in reverse order.
    answers(() => said.map((text, message) => fact(text, { message, ...decided[message] })));
    expect(await memory.say(user, ...said)).toMatchObject({ status: 'SUCCEEDED' });
    expect([...(await memory.all(user))].sort()).toEqual([...left].sort());
    const other = { user: `${user.user}-reversed` };
    for (const home of homes) await told(other, `I live in ${home}`);
    answers(() => said.map((text, message) => fact(text, { message, ...decided[message] })).toReversed());
    expect(await memory.say(other, ...said)).toMatchObject({ status: 'SUCCEEDED' });
    expect([...(await memory.all(other))].sort()).toEqual([...left].sort());
  });
});
