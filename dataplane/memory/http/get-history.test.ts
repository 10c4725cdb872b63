import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const { historyBytes, historyEntryBytes } = memoryLimits;
type Entry = { readonly memory_id: string; readonly event: string };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the history of a memory'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  /** The id of a memory with an entry ADD of this many bytes and so many entries UPDATE, each with two texts. */
  async function changed(user: string, addBytes: number, updates: { count: number; oldText: string; newText: string }) {
    const event = await memory.say({ user }, 'I live in Rome.');
    const [id = ''] = event['memory_ids'] as readonly string[];
    const { sql } = memory.database.database;
    await sql`update memory.history set new_text = ${'a'.repeat(addBytes)} where memory_id = ${id}`;
    await sql`
      insert into memory.history (entry_id, memory_id, person, event, old_text, new_text)
      select gen_random_uuid(), memory_id, person, 'UPDATE', ${updates.oldText}, ${updates.newText}
      from memory.memories, generate_series(1, ${updates.count}::int) where memory_id = ${id}`;
    return id;
  }
  const read = (user: string, id: string) => memory.call({ user }, 'GET', `/v1/memories/${id}/history`);
  const refusal = async (user: string, id: string) => {
    const { status, json } = await read(user, id);
    return [status, json['code']];
  };
  const tooLarge = [409, 'history_too_large'];

  async function exported(user: string): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (let token: unknown = ''; token !== null; ) {
      const { json } = await memory.call({ user }, 'GET', `/v1/export${token === '' ? '' : `?page_token=${token}`}`);
      entries.push(...(json['history'] as readonly Entry[]));
      token = json['next_page_token'];
    }
    return entries;
  }

  test('a history may have as many bytes as the limit; a longer one is an error, and the export has all of it', async () => {
    const count = 256;
    const texts = historyBytes / count - historyEntryBytes;
    // Two bytes for each character.
    const half = 'ж'.repeat(texts / 4);
    const id = await changed('long', texts, { count: count - 1, oldText: half, newText: half });
    const whole = await read('long', id);
    expect(whole.status).toBe(200);
    const entries = whole.json as unknown as readonly Entry[];
    expect(entries.map(({ event }) => event)).toEqual(['ADD', ...new Array(count - 1).fill('UPDATE')]);
    const { sql } = memory.database.database;
    await sql`update memory.history set new_text = new_text || 'a' where memory_id = ${id} and event = 'ADD'`;
    expect(await refusal('long', id)).toEqual(tooLarge);
    expect(await refusal('other', id)).toEqual([404, 'not_found']);
    expect(await exported('long')).toMatchObject(entries.map(({ event }) => ({ event, memory_id: id })));
  });

  test('a history may have as many entries as fit without texts, and no more', async () => {
    const most = historyBytes / historyEntryBytes;
    const id = await changed('often', 0, { count: most - 1, oldText: '', newText: '' });
    const whole = await read('often', id);
    expect([whole.status, (whole.json as unknown as readonly Entry[]).length]).toEqual([200, most]);
    const { sql } = memory.database.database;
    await sql`
      insert into memory.history (entry_id, memory_id, person, event)
      select gen_random_uuid(), memory_id, person, 'DELETE' from memory.memories where memory_id = ${id}`;
    expect(await refusal('often', id)).toEqual(tooLarge);
  });
});
