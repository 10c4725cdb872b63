import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import type { OpenedMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { prepareNpmPackage } from '../support/npm-package.ts';
import { openProductionMemory, type ProductionMemory } from './production-memory.ts';

type Found = { readonly id: string; readonly memory: string };
type Mem0 = {
  readonly headers: Record<string, string>;
  ping(): Promise<void>;
  add(messages: readonly object[], options: object): Promise<{ readonly status: string }>;
  search(query: string, options: object): Promise<{ readonly results: readonly Found[] }>;
  getAll(options: object): Promise<{ readonly count: number; readonly results: readonly Found[] }>;
  get(id: string): Promise<Found>;
  update(id: string, change: object): Promise<Found>;
  delete(id: string): Promise<{ readonly message: string }>;
};

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('the client of mem0 with tokens at two replicas of the API and a worker'),
  () => {
    let world: ProductionMemory;
    beforeAll(async () => {
      world = await openProductionMemory();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    test('a change at one replica is returned by the other immediately', async (context) => {
      const installed = await prepareNpmPackage('mem0ai', '3.3.1');
      if (!installed.ok) return context.skip(installed.reason);
      process.env['MEM0_TELEMETRY'] = 'false';
      const entry = pathToFileURL(join(installed.folder, 'dist/index.mjs')).href;
      const { MemoryClient } = (await import(/* @vite-ignore */ entry)) as {
        readonly MemoryClient: new (options: { readonly apiKey: string; readonly host: string }) => Mem0;
      };
      const clientOf = async (user: string, replica: OpenedMemory): Promise<Mem0> => {
        const client = new MemoryClient({ apiKey: await world.tokenOf(user), host: replica.url });
        // The header of development mode is not read.
        Object.assign(client.headers, { 'X-Tenant-Id': 'acme', 'X-User-Id': 'eve' });
        return client;
      };
      const [one, other] = [await clientOf('carl', world.replicas[0]), await clientOf('carl', world.replicas[1])];
      await one.ping();
      const filters = { user_id: 'carl' };
      const said = [{ role: 'user', content: 'I live in Lisbon. I love strong coffee.' }];
      expect(await one.add(said, { userId: 'carl' })).toMatchObject({ status: 'PENDING' });
      await until('both facts are listed', async () => (await other.getAll({ filters })).count === 2);
      for (const [turn, text] of ['I love weak coffee', 'I love cold coffee', 'I love black coffee'].entries()) {
        const [writer, reader] = turn % 2 === 0 ? [one, other] : [other, one];
        const [found] = (await reader.search('coffee', { filters, topK: 1 })).results;
        expect(await writer.update(found?.id ?? '', { text })).toMatchObject({ memory: text });
        expect((await reader.search('coffee', { filters, topK: 1 })).results).toMatchObject([{ memory: text }]);
        expect(await reader.get(found?.id ?? '')).toMatchObject({ memory: text });
      }
      const [last] = (await one.search('coffee', { filters, topK: 1 })).results;
      await other.delete(last?.id ?? '');
      expect((await one.search('coffee', { filters })).results.map(({ memory }) => memory)).toEqual([
        'I live in Lisbon',
      ]);
      const eve = await clientOf('eve', world.replicas[0]);
      await expect(eve.search('coffee', { filters })).rejects.toThrow('Wrong user ID');
      expect((await eve.getAll({ filters: { user_id: 'eve' } })).count).toBe(0);
    });
  },
);
