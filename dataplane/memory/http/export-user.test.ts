import { describe, expect, test } from 'vitest';
import { exportedMemorySchema } from '#contracts/memory';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const sections = ['memories', 'history', 'events', 'sessions', 'deletions'] as const;
const told = (content: string, more: object = {}) => ({
  ...{ agent_id: 'a', infer: false, messages: [{ role: 'user', content }], ...more },
});

/** Every page of an export. */
async function pagesOf(memory: OpenedMemory, size: string, afterPage: () => Promise<unknown> = async () => undefined) {
  const pages = [];
  for (let token: string | null = ''; token !== null; ) {
    const query: string = token === '' ? '' : `&page_token=${token}`;
    const { status, json } = await memory.call(ann, 'GET', `/v1/export?page_size=${size}${query}`);
    expect(status).toBe(200);
    const page = exportedMemorySchema.parse(json);
    pages.push(page);
    token = page.next_page_token;
    await afterPage();
  }
  return pages;
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('an export of a user'), () => {
  test('an export contains open events with their text and scope, deleted memories, expired states and records of deletions', async () => {
    await using database = await openTestDatabase();
    {
      await using worker = await openMemory({ database });
      await worker.add(ann, told('has a boat', { agent_id: 'gone' }));
      const event = await worker.add(ann, told('has a car', { metadata: { a: 1 }, categories: ['c'] }));
      await worker.call(ann, 'DELETE', `/v1/memories/${(event['memory_ids'] as string[])[0]}`);
      await worker.call(ann, 'DELETE', '/v1/memories?agent_id=gone');
    }
    await using memory = await openMemory({ database, config: { role: 'api' } });
    const open = { run_id: 'r', metadata: { b: [2] }, categories: ['d'], expires_at: '2090-01-01T00:00:00.000Z' };
    await memory.call(ann, 'POST', '/v1/memories', told('has a bike', open), { 'idempotency-key': 'key-1' });
    await memory.call(ann, 'POST', '/v1/sessions/s/state', { state: { step: 2 }, ttl_seconds: 60 });
    await database.database.sql`update memory.sessions set expires_at = clock_timestamp() - interval '1 hour'`;
    const [page] = await pagesOf(memory, '500');
    expect(page).toMatchObject({
      user_id: 'ann',
      memories: [{ memory: 'has a car', metadata: { a: 1 }, deleted_at: expect.any(String) }],
      history: [{ event: 'ADD' }, { event: 'DELETE', old_memory: 'has a car' }],
      events: [
        { status: 'SUCCEEDED', agent_id: 'gone', messages: null, metadata: {}, categories: [] },
        { status: 'SUCCEEDED', agent_id: 'a', messages: null, metadata: {}, categories: [] },
        {
          ...{ status: 'PENDING', agent_id: 'a', ...open, infer: false, idempotency_key: 'key-1' },
          messages: [{ role: 'user', content: 'has a bike' }],
        },
      ],
      sessions: [{ session_id: 's', state: { step: 2 }, ttl_remaining_seconds: 0 }],
      deletions: [{ deleted_count: 1, cancelled_events: 0 }],
      next_page_token: null,
    });
    expect((await memory.call({ user: 'bob' }, 'GET', '/v1/export')).json).toMatchObject({
      ...{ memories: [], history: [], events: [], sessions: [], deletions: [], next_page_token: null },
    });
  });

  test('pages of every size join to the same export, and concurrent writes neither repeat nor hide an entry', async () => {
    await using memory = await openMemory();
    for (const no of [1, 2, 3, 4, 5]) await memory.add(ann, told(`text ${no}`, { agent_id: `agent-${no}` }));
    await memory.call(ann, 'DELETE', '/v1/memories?agent_id=agent-5');
    for (const id of ['s', 't', 'ц']) {
      await memory.call(ann, 'POST', `/v1/sessions/${encodeURIComponent(id)}/state`, {
        state: { id },
        ttl_seconds: 600,
      });
    }
    const joined = (pages: Awaited<ReturnType<typeof pagesOf>>) =>
      Object.fromEntries(
        sections.map((section) => [
          section,
          pages
            .flatMap((page) => page[section] as readonly object[])
            .map((row) => ({ ...row, ttl_remaining_seconds: 0 })),
        ]),
      );
    const whole = await pagesOf(memory, '500');
    expect(whole).toHaveLength(1);
    for (const size of [1, 2, 3, 7, 16, 17, 18]) {
      const pages = await pagesOf(memory, String(size));
      expect(joined(pages)).toEqual(joined(whole));
      for (const page of pages) {
        expect(sections.reduce((sum, section) => sum + page[section].length, 0)).toBeLessThanOrEqual(size);
      }
    }
    let no = 0;
    const write = () => {
      no += 1;
      return memory.add(ann, told(`later ${no}`, { agent_id: 'later' }));
    };
    const texts = (await pagesOf(memory, '4', write)).flatMap(({ memories }) => memories).map((row) => row.memory);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toEqual(expect.arrayContaining(['text 1', 'text 2', 'text 3', 'text 4']));
  });

  test('a page ends after 4 MiB of text, and a page of one row always continues', async () => {
    await using memory = await openMemory({ config: { role: 'api' } });
    const messages = Array.from({ length: 30 }, () => ({ role: 'user', content: 'x'.repeat(32_768) }));
    for (const agent_id of ['1', '2', '3', '4', '5', '6', '7', '8', '9']) {
      expect((await memory.call(ann, 'POST', '/v1/memories', { messages, agent_id })).status).toBe(202);
    }
    const pages = await pagesOf(memory, '1000');
    expect(pages.map(({ events }) => events.length)).toEqual([5, 4]);
    expect(pages.flatMap(({ events }) => events.map(({ agent_id }) => agent_id)).join('')).toBe('123456789');
  });

  test.each(['0', '1001', 'x'])('an export with the page size %s is refused', async (size) => {
    await using memory = await openMemory();
    expect((await memory.call(ann, 'GET', `/v1/export?page_size=${size}`)).status).toBe(400);
    expect((await memory.call(ann, 'GET', '/v1/export?page_size=1000')).status).toBe(200);
  });

  test('an export with a page token of another list or with an invalid key is refused', async () => {
    await using memory = await openMemory();
    const token = (list: string, key: string) => Buffer.from(JSON.stringify([list, key])).toString('base64url');
    const get = async (key: string, list = 'export/v1') =>
      (await memory.call(ann, 'GET', `/v1/export?page_token=${token(list, key)}`)).status;
    for (const key of [
      'memories/x',
      'history/-1',
      'events/9999999999999999999',
      'sessions/\u0000',
      'people/1',
      'memories',
    ]) {
      expect(await get(key)).toBe(400);
    }
    expect(await get('history/1', 'memories/v1')).toBe(400);
    for (const key of ['memories/', 'history/999999999999999999', 'sessions/ц', 'sessions/'])
      expect(await get(key)).toBe(200);
  });
});
