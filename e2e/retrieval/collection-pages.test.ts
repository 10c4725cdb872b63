import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createRetrievalClient } from '../../cli/retrieval/retrieval-client.ts';
import { openRetrieval } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';

/** Passes requests on to a service, and notes their addresses. */
async function openNotes(target: string) {
  const noted: string[] = [];
  const pass = (incoming: IncomingMessage, answer: ServerResponse): void => {
    const { method, headers, url = '/' } = incoming;
    noted.push(url);
    const onward = request(new URL(url, target), { method, headers }, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(answer);
    });
    incoming.pipe(onward);
  };
  const server = createServer(pass).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    noted,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test.skipIf(missingPostgres !== undefined)(
  onPostgres('the command line reads every page of the collections'),
  async () => {
    await using service = await openRetrieval();
    using proxy = await openNotes(service.url);
    const names = Array.from({ length: 401 }, (_, at) => `name ${String(at).padStart(3, '0')}`);
    const create = async (name: string | undefined) => {
      const body = { name, embedding_profile_id: 'test-profile' };
      expect((await service.call({ user: 'ann' }, '/v1/collections', body)).status).toBe(201);
    };
    const client = createRetrievalClient({
      origin: proxy.origin,
      identity: async () => ({ 'x-tenant-id': 'acme', 'x-user-id': 'ann' }),
      timeoutMs: 60_000,
    });
    for (const name of names.slice(0, 400)) await create(name);
    expect((await client.listCollections()).map(({ name }) => name)).toEqual(names.slice(0, 400));
    const path = '/v1/collections?limit=200';
    const pages = [path, `${path}&after=name+199`, `${path}&after=name+399`];
    expect(proxy.noted).toEqual(pages);
    await create(names[400]);
    expect((await client.listCollections()).map(({ name }) => name)).toEqual(names);
    expect(proxy.noted).toEqual([...pages, ...pages]);
  },
);
