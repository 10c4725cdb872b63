import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { documentOf, startRetrieval } from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { createAuthority } from '../../hack/cluster/certificates/authority.ts';
import { missingPostgres, openTestDatabase, type TestDatabase } from '../../libraries/sql/testing/test-database.ts';
import { verifies } from '../support/verifies.ts';
import { missingOpenSearch, type OpenSearchServer, startOpenSearch } from './opensearch-server.ts';
import { type SecuredProxy, startSecuredProxy } from './secured-proxy.ts';

const missing = missingPostgres ?? missingOpenSearch;
const ann = { user: 'ann', groups: ['staff'] };
const credential = { user: 'retrieval', password: 'hunter2' };

/** Sends a PUT of one document and returns its status. */
async function statusOf(url: URL, options: Pick<RequestOptions, 'headers' | 'ca'>): Promise<number | undefined> {
  const sent = request(url, { ...options, method: 'PUT' }).end('{"text":"written by an integration"}');
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

describe.skipIf(missing !== undefined)(`OpenSearch behind TLS and a password${missing ? ` (${missing})` : ''}`, () => {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder.path, name);
  const authority = createAuthority();
  let server: OpenSearchServer;
  let opened: TestDatabase;
  let proxy: SecuredProxy;
  let lines: string[];

  beforeAll(async () => {
    server = await startOpenSearch();
    opened = await openTestDatabase();
    const pair = authority.issueServer({ commonName: 'search' }, ['127.0.0.1']);
    proxy = await startSecuredProxy(server.url, { pair, ...credential });
    writeFileSync(file('ca.pem'), authority.certificate);
    writeFileSync(file('other-ca.pem'), createAuthority().certificate);
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const start = ({
    ca,
    password = credential.password,
    url = proxy.url,
  }: {
    ca?: string;
    password?: string;
    url?: URL;
  }) => {
    writeFileSync(file('password'), `${password}\n`);
    lines = [];
    const logger = createLogger({
      service: 'retrieval',
      level: 'warn',
      destination: { write: (line) => void lines.push(line) },
    });
    return startRetrieval(opened, {
      config: {
        stores: {
          nats: undefined,
          objects: { kind: 'folder', directory: file('objects') },
          s3: undefined,
          contentSourcesFile: undefined,
          openSearch: {
            url,
            credential: { user: credential.user, passwordFile: file('password') },
            caFile: ca === undefined ? undefined : file(ca),
            prefix: 'secured',
          },
        },
      },
      overrides: { logger, times: { pollMs: 50, reconcileMs: 100, graceMs: 0 } },
    });
  };
  type Service = Awaited<ReturnType<typeof start>>;
  const ask = (service: Service) =>
    service.call(ann, '/v1/query', { collection: 'handbook', text: 'hotels', mode: 'bm25' });
  /** A query is refused for the named reason, the log has no secret, and the replica still takes other requests. */
  const expectRefused = async (service: Service, reason: RegExp) => {
    const { status, json, headers } = await ask(service);
    expect([status, json['code'], headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
    expect(json).not.toHaveProperty('items');
    expect((await service.call(ann, '/health')).json).toMatchObject({
      status: 'degraded',
      components: { postgres: 'ok', opensearch: 'degraded' },
    });
    expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(200);
    const log = lines.join('');
    expect(log).toMatch(reason);
    expect(log).not.toContain(credential.password);
  };

  test('with the authority and the password documents are indexed and found, and a changed password takes effect', async () => {
    await using service = await start({ ca: 'ca.pem' });
    const created = { name: 'handbook', visibility: 'public', embedding_profile_id: 'test-profile' };
    expect((await service.call(ann, '/v1/collections', created)).status).toBe(201);
    await service.ingest(ann, [documentOf('handbook', 'travel', 'Hotels cost at most 180 euros.')]);
    const found = () =>
      until('the query is answered', async () => {
        const { status, json } = await ask(service);
        return status === 200 && (json['items'] as readonly unknown[]).length === 1;
      });
    expect(await found()).toBe(true);
    expect((await service.call(ann, '/health')).json).toMatchObject({ status: 'ok', components: { opensearch: 'ok' } });
    proxy.accept('changed');
    try {
      await expectRefused(service, /refuses the user, the password or the rights/);
      writeFileSync(file('password'), 'changed\n');
      expect(await found()).toBe(true);
    } finally {
      proxy.accept(credential.password);
    }
  });

  verifies(
    ['retrieval:integration:no-index-write'],
    'a direct write to an index is refused without the password of the service, also with the token of an integration',
    async () => {
      const authorities = [authority.certificate];
      for (const authorization of [
        undefined,
        'Bearer a.b.c',
        `Basic ${Buffer.from('integration:a.b.c').toString('base64')}`,
      ]) {
        const headers = {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        };
        expect(await statusOf(new URL('secured-written/_doc/1', proxy.url), { headers, ca: authorities })).toBe(401);
      }
      expect((await fetch(new URL('secured-written', server.url))).status).toBe(404);
    },
  );

  test('with a wrong password a query gets 503, and the log contains the reason', async () => {
    await using service = await start({ ca: 'ca.pem', password: 'wrong' });
    await expectRefused(service, /refuses the user, the password or the rights/);
  });

  test.each([undefined, 'other-ca.pem'])(
    'a certificate whose authority is not among those of the file %s is refused',
    async (ca) => {
      await using service = await start(ca === undefined ? {} : { ca });
      await expectRefused(service, /certificate of the search engine is not accepted/);
    },
  );

  test('a certificate for another host is refused', async () => {
    const pair = authority.issueServer({ commonName: 'search' }, ['search.example']);
    await using elsewhere = await startSecuredProxy(server.url, { pair, ...credential });
    await using service = await start({ ca: 'ca.pem', url: elsewhere.url });
    await expectRefused(service, /certificate of the search engine is not accepted/);
  });
});
