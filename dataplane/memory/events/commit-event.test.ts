import { v7 as uuid } from 'uuid';
import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { extractFacts } from '../extraction/extract-facts.ts';
import { insertMemory } from '../facts/write-memory.ts';
import { beginChange } from '../people/person.ts';
import { openMemory } from '../testing/open-memory.ts';
import { claimEvent } from './claim-event.ts';
import { commitEvent } from './commit-event.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the commit of an event'), () => {
  test('a statement whose known memory expires between decision and write becomes a separate memory', async () => {
    await using memory = await openMemory({ config: { role: 'api' } });
    const { database } = memory.database;
    const user = { user: 'ann' };
    const messages = [{ role: 'user', content: 'I live in Porto.' }];
    await memory.call(user, 'POST', '/v1/memories', { messages, agent_id: 'tutor' });
    const [only] = await database.sql<{ person: string }[]>`select person from memory.people`;
    const person = only?.person ?? '';
    const memoryId = uuid();
    const text = { topic: 'residence', tokens: 1, terms: [], vector: undefined, vectorsKey: undefined };
    await database.sql.begin(async (sql) => {
      const changeNo = (await beginChange(sql, person)) as string;
      await insertMemory(
        { sql, person, changeNo, eventId: null, newId: uuid },
        {
          ...{ ...text, memoryId, text: 'I live in Lisbon', agentId: 'tutor', runId: null, role: 'user', source: null },
          ...{ categories: [], metadata: {}, expiresAt: new Date(0), statedAt: new Date(0) },
        },
      );
    });
    const event = await claimEvent(database.sql, 60_000);
    if (event === undefined) throw new Error('the event is not due');
    const [fact] = extractFacts({ role: 'user', content: 'I live in Porto.', saidAt: new Date() }, 0);
    if (fact === undefined) throw new Error('the message states no fact');
    const ended = await commitEvent(database, event, [{ fact, stored: { ...text, text: fact.text } }], {
      newId: uuid,
      room: { mostBytes: 1_000_000, dimension: 0 },
      quota: { userMemories: 10 },
      decide: () => [{ kind: 'UPDATE', fact, memoryId, topic: 'residence', isWholeTopic: true, reason: 'replaces' }],
    });
    expect(ended).toBe('succeeded');
    expect(await memory.all(user)).toEqual(['I live in Porto']);
    const { json } = await memory.call(user, 'GET', `/v1/events/${event.eventId}`);
    expect(json).toMatchObject({ status: 'SUCCEEDED', decisions: [{ decision: 'ADD', reason: 'new' }] });
    const [id] = json['memory_ids'] as readonly string[];
    expect((await memory.call(user, 'GET', `/v1/memories/${id}`)).status).toBe(200);
  });
});
