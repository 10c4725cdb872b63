import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openTestDatabase } from '#sql/testing/test-database';
import { startMemory } from './testing/start-memory.ts';

/** Number of attempts that a process has ended with success. */
async function succeeded(adminUrl: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^portcullis_memory_event_attempts_total\{[^}]*end="succeeded"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
}

test('an API process accepts and answers requests, and a worker process without an address for clients processes events', async () => {
  await using database = await openTestDatabase();
  await using api = await startMemory(database, { config: { role: 'api' } });
  const user = { user: 'ann' };
  const body = { agent_id: 'tutor', messages: [{ role: 'user', content: 'I live in Lisbon.' }] };
  const { status, json } = await api.call(user, 'POST', '/v1/memories', body);
  expect({ status, state: json['status'] }).toEqual({ status: 202, state: 'PENDING' });
  await using worker = await startMemory(database, { config: { role: 'worker' } });
  expect(worker.url).toBe('');
  await api.say(user, 'I like tea.');
  expect(await api.find(user, 'Lisbon tea')).toEqual(expect.arrayContaining(['I live in Lisbon', 'I like tea']));
  // The worker increments its counter after the commit, and the API shows the commit immediately.
  await until('both messages are processed', async () => (await succeeded(worker.adminUrl)) === 2);
  expect(await succeeded(api.adminUrl)).toBe(0);
  const scraped = await (await fetch(`${worker.adminUrl}/metrics`)).text();
  expect(scraped).toMatch(/^portcullis_memory_memories_unguarded\{[^}]*\} 1$/m);
});
