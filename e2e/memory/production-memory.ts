import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestKey, signText, startJwksServer } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { type OpenedMemory, openMemory } from '../../dataplane/memory/testing/open-memory.ts';

const issuer = 'https://issuer.example';

/** Starts a memory service in production mode: two replicas of the API and a worker with one database. */
export type ProductionMemory = AsyncDisposable & {
  readonly replicas: readonly [OpenedMemory, OpenedMemory];
  /**
   * A token of a user of the tenant `acme`, on whose behalf the agent `helper` acts; `claims` replace claims of the
   * token.
   */
  tokenOf(user: string, claims?: object): Promise<string>;
};

export async function openProductionMemory(): Promise<ProductionMemory> {
  await using parts = new AsyncDisposableStack();
  const key = await createTestKey('ES256', 'ec');
  const keys = parts.use(await startJwksServer(key));
  const issuersFile = join(parts.use(temporaryFolder()).path, 'issuers.yaml');
  const trusted = { issuer, jwksUrl: keys.url.href, audience: 'portcullis', tenantsClaim: 'tenants' };
  writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
  const identity = { mode: 'production', issuersFile } as const;
  const first = parts.use(await openMemory({ config: { identity, role: 'api' } }));
  const { database } = first;
  const second = parts.use(await openMemory({ database, config: { identity, role: 'api' } }));
  parts.use(await openMemory({ database, config: { identity, role: 'worker' } }));
  const owned = parts.move();
  return {
    replicas: [first, second],
    tokenOf(user, claims = {}) {
      const exp = Math.floor(Date.now() / 1_000) + 600;
      const body = { iss: issuer, sub: user, aud: 'portcullis', exp, act: { sub: 'helper' }, tenants: ['acme'] };
      return signText(key, JSON.stringify({ ...body, ...claims }));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
