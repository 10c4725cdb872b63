import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestKey, signText, startJwksServer, type TestKey } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { prepareNpmPackage } from '../support/npm-package.ts';

const issuer = 'https://issuer.example';

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
    const parts = new AsyncDisposableStack();
    let key: TestKey;
    let replicas: readonly [OpenedMemory, OpenedMemory];
    beforeAll(async () => {
      key = await createTestKey('ES256', 'ec');
      const keys = parts.use(await startJwksServer(key));
      const issuersFile = join(parts.use(temporaryFolder()).path, 'issuers.yaml');
      const trusted = { issuer, jwksUrl: keys.url.href, audience: 'portcullis', tenantsClaim: 'tenants' };
      writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
      const identity = { mode: 'production', issuersFile } as const;
      const first = parts.use(await openMemory({ config: { identity, role: 'api' } }));
      const { database } = first;
      replicas = [first, parts.use(await openMemory({ database, config: { identity, role: 'api' } }))];
      parts.use(await openMemory({ database, config: { identity, role: 'worker' } }));
    });
    afterAll(() => parts.disposeAsync());

    const tokenOf = (user: string, claims: object = {}): Promise<string> => {
      const exp = Math.floor(Date.now() / 1_000) + 600;
      const body = { iss: issuer, sub: user, aud: 'portcullis', exp, act: { sub: 'helper' }, tenants: ['acme'] };
      return signText(key, JSON.stringify({ ...body, ...claims }));
    };

    test('a change at one replica is returned by the other at once', async (context) => {
      const installed = await prepareNpmPackage('mem0ai', '3.3.1');
      if (!installed.ok) return context.skip(installed.reason);
      process.env['MEM0_TELEMETRY'] = 'false';
      const entry = pathToFileURL(join(installed.folder, 'dist/index.mjs')).href;
      const { MemoryClient } = (await import(/* @vite-ignore */ entry)) as {
        readonly MemoryClient: new (options: { readonly apiKey: string; readonly host: string }) => Mem0;
      };
      const clientOf = async (user: string, replica: OpenedMemory): Promise<Mem0> => {
        const client = new MemoryClient({ apiKey: await tokenOf(user), host: replica.url });
        // The header of development mode is not read.
        Object.assign(client.headers, { 'X-Tenant-Id': 'acme', 'X-User-Id': 'eve' });
        return client;
      };
      const [one, other] = [await clientOf('carl', replicas[0]), await clientOf('carl', replicas[1])];
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
      const eve = await clientOf('eve', replicas[0]);
      await expect(eve.search('coffee', { filters })).rejects.toThrow('Wrong user ID');
      expect((await eve.getAll({ filters: { user_id: 'eve' } })).count).toBe(0);
    });
  },
);
