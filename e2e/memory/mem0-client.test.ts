import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { prepareNpmPackage } from '../support/npm-package.ts';

type Found = { readonly id: string; readonly memory: string };
type Client = {
  readonly headers: Record<string, string>;
  ping(): Promise<void>;
  add(messages: readonly object[], options: object): Promise<{ readonly eventId: string; readonly status: string }>;
  search(query: string, options: object): Promise<{ readonly results: readonly Found[] }>;
  getAll(options: object): Promise<{ readonly count: number; readonly results: readonly Found[] }>;
  get(id: string): Promise<Found & { readonly userId: string }>;
  update(id: string, change: object): Promise<Found>;
  history(id: string): Promise<readonly { readonly event: string }[]>;
  delete(id: string, options?: object): Promise<{ readonly message: string }>;
  deleteAll(options?: object): Promise<{ readonly deletedCount: number }>;
};

test.skipIf(missingPostgres !== undefined)(
  onPostgres('the official client of mem0 adds, searches, lists, reads, changes and deletes'),
  async (context) => {
    const installed = await prepareNpmPackage('mem0ai', '3.3.1');
    if (!installed.ok) return context.skip(installed.reason);
    process.env['MEM0_TELEMETRY'] = 'false';
    const entry = pathToFileURL(join(installed.folder, 'dist/index.mjs')).href;
    const { MemoryClient } = (await import(/* @vite-ignore */ entry)) as {
      readonly MemoryClient: new (options: { readonly apiKey: string; readonly host: string }) => Client;
    };
    await using memory = await openMemory();
    const clientOf = (user: string): Client => {
      const client = new MemoryClient({ apiKey: 'development', host: memory.url });
      Object.assign(client.headers, { 'X-Tenant-Id': 'acme', 'X-User-Id': user });
      return client;
    };
    const ann = clientOf('ann');
    await ann.ping();
    const said = [
      { role: 'user', content: 'I live in Lisbon. I love strong coffee.' },
      { role: 'assistant', content: 'Noted: I live in Madrid.' },
    ];
    const added = await ann.add(said, { userId: 'ann', metadata: { source: 'chat' } });
    expect(added).toMatchObject({ eventId: expect.any(String), status: 'PENDING' });
    const filters = { user_id: 'ann' };
    await until('both facts are listed', async () => (await ann.getAll({ filters })).count === 2);
    const { results } = await ann.search('coffee', { filters, topK: 1 });
    expect(results).toMatchObject([{ memory: 'I love strong coffee', metadata: { source: 'chat' } }]);
    const id = results[0]?.id ?? '';
    expect(await ann.get(id)).toMatchObject({ id, memory: 'I love strong coffee', userId: 'ann' });
    expect(await ann.update(id, { text: 'I love weak coffee' })).toMatchObject({ memory: 'I love weak coffee' });
    expect((await ann.search('coffee', { filters, topK: 1 })).results[0]?.memory).toBe('I love weak coffee');
    expect((await ann.history(id)).map(({ event }) => event)).toEqual(['ADD', 'UPDATE']);
    // The client can change the metadata alone.
    const relabelled = await ann.update(id, { metadata: { source: 'mail' } });
    expect(relabelled).toMatchObject({ memory: 'I love weak coffee', metadata: { source: 'mail' } });
    for (const change of [{ text: 'x', timestamp: 1 }, { expirationDate: '2030-01-01' }]) {
      await expect(ann.update(id, change)).rejects.toThrow('unknown field');
    }
    for (const both of [
      { AND: [{ user_id: 'bob' }, { user_id: 'ann' }] },
      { AND: [{ agent_id: 'a' }, { user_id: 'ann', agent_id: 'b' }] },
      { user_id: 'ann', agent_id: '*' },
    ]) {
      await expect(ann.getAll({ filters: both })).rejects.toThrow('filters');
    }
    await expect(ann.delete(id, { deleteLinked: true })).rejects.toThrow('unknown parameter');
    await expect(ann.deleteAll({ userId: 'ann', appId: 'x' })).rejects.toThrow('unknown parameter');
    await expect(ann.deleteAll()).rejects.toThrow('no filter');
    await expect(ann.deleteAll({ userId: 'bob' })).rejects.toThrow('Wrong user ID');
    const page = await ann.getAll({ filters: { AND: [{ user_id: 'ann' }] }, page: 2, pageSize: 1 });
    expect(page).toMatchObject({ count: 2, results: [{ memory: 'I live in Lisbon' }] });

    const bob = clientOf('bob');
    expect((await bob.search('coffee', { filters: { user_id: 'bob' } })).results).toEqual([]);
    await expect(bob.search('coffee', { filters })).rejects.toThrow('Wrong user ID');
    await expect(bob.get(id)).rejects.toThrow();

    expect((await ann.delete(id)).message).toContain('deleted');
    expect((await ann.getAll({ filters })).count).toBe(1);
    expect(await ann.deleteAll({ userId: 'ann' })).toMatchObject({ deletedCount: 1 });
    expect((await ann.getAll({ filters })).count).toBe(0);
  },
);
