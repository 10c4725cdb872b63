import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
/** The longest text that the model accepts, UTF-16 units. */
const most = 400;

describe.skipIf(missingPostgres !== undefined)(onPostgres('texts longer than the embedding model accepts'), () => {
  let memory: OpenedMemory;
  let isAway = false;
  beforeAll(async () => {
    const models = hashedWords((texts) => {
      if (isAway) throw new ModelsError('unavailable');
      if (texts.some((text) => text.length > most)) throw new ModelsError('refused');
    });
    memory = await openMemory({ overrides: { models, times: { pollMs: 100, maintainMs: 50 } } });
  });
  afterAll(() => memory?.[Symbol.asyncDispose]());

  const found = (query: string) => memory.find(ann, query, { mode: 'semantic' });

  test('a long query and a long memory are embedded by their beginning, even a memory that was stored without an embedder', async () => {
    const event = await memory.say(ann, 'I live in Lisbon.');
    const [id] = event['memory_ids'] as readonly string[];
    const filling = ' and'.repeat(most);
    expect(await found(`Lisbon${filling}`)).toEqual(['I live in Lisbon']);
    const long = `I live in Porto${filling}`;
    const changed = await memory.call(ann, 'PUT', `/v1/memories/${id}`, { text: long });
    expect(changed.status).toBe(200);
    expect(await found(`Porto${filling}`)).toEqual([long]);
    isAway = true;
    const other = `I live in Braga${filling}`;
    expect((await memory.call(ann, 'PUT', `/v1/memories/${id}`, { text: other })).status).toBe(200);
    isAway = false;
    await until('the missing vector is added', async () => {
      const [row] = await memory.database.database.sql<{ units: number }[]>`
        select length(vector) as units from memory.memories where memory_id = ${id ?? ''}`;
      return (row?.units ?? 0) > 0;
    });
    expect(await found(`Braga${filling}`)).toEqual([other]);
  });

  test('messages are stored unchanged, including a long one beside a short one', async () => {
    const ben = { user: 'ben' };
    const long = `Rex is in Faro${' and'.repeat(most)}`;
    const messages = ['Max is in Evora', long].map((content) => ({ role: 'user', content }));
    const event = await memory.add(ben, { agent_id: 'tutor', messages, infer: false });
    expect(event).toMatchObject({ status: 'SUCCEEDED' });
    expect(event['memory_ids']).toHaveLength(2);
    expect((await memory.find(ben, `Rex${' and'.repeat(9)}`, { mode: 'semantic' }))[0]).toBe(long);
  });
});
