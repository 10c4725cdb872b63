import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the queries for the memories nearest to an add'), () => {
  let memory: OpenedMemory;
  /** The texts of each call that embeds queries. */
  let embedded: (readonly string[])[] = [];
  let answer: () => Promise<readonly object[]> | readonly object[] = () => [];

  beforeAll(async () => {
    const words = hashedWords();
    const embed: typeof words.embed = (profile, use, texts, call) => {
      if (use === 'query') embedded.push(texts);
      return words.embed(profile, use, texts, call);
    };
    const complete = async () => JSON.stringify({ facts: await answer() });
    memory = await openMemory({
      overrides: { models: { ...words, embed, complete } },
      config: { extractionModel: 'reader' },
    });
  });
  beforeEach(() => {
    embedded = [];
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  test('the queries of all messages of an add are embedded in one call', async () => {
    answer = () => [];
    const texts = Array.from({ length: 15 }, (_, at) => `The item${at} is old`);
    expect(await memory.say({ user: 'many' }, ...texts)).toMatchObject({ status: 'SUCCEEDED' });
    expect(embedded).toEqual([texts]);
  });

  test('the queries of an add that is decided again are not embedded again', async () => {
    const user = { user: 'again' };
    const fact = { decision: 'ADD', text: 'I live in Rome', message: 0, memory: null, importance: 4 };
    answer = () => [{ ...fact, quote: fact.text }];
    const { memory_ids } = await memory.say(user, 'I live in Rome');
    const path = `/v1/memories/${(memory_ids as readonly string[])[0]}`;
    let decisions = 0;
    answer = async () => {
      decisions += 1;
      if (decisions === 1) await memory.call(user, 'PUT', path, { text: 'I live in Rome now' });
      return [{ ...fact, decision: 'NONE', text: 'I like tea', quote: 'I like tea', memory: 0 }];
    };
    embedded = [];
    expect(await memory.say(user, 'I like tea')).toMatchObject({ status: 'SUCCEEDED' });
    expect(decisions).toBe(2);
    expect(embedded).toEqual([['I like tea']]);
  });
});
