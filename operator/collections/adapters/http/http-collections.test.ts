import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Collection } from '#contracts/retrieval';
import { createHttpCollections } from './http-collections.ts';

const place = { tenant: 'sales team', collectionId: '01990000-0000-4000-8000-000000000001' };
const collection: Collection = {
  collection_id: place.collectionId,
  tenant_id: place.tenant,
  name: 'Handbook',
  description: '',
  collection_type: 'knowledge_base',
  parent_id: null,
  visibility: 'private',
  embedding_profile_id: 'main',
  acl_model: 'document',
  chunking: { strategy: 'recursive_text', size: 800, overlap: 120 },
  retrieval_defaults: { mode: 'hybrid', top_k: 8, rerank_profile_id: null },
  empty_acl_policy: 'reject',
  status: 'created',
  active_version: 1,
  doc_count: 0,
  chunk_count: 0,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};
const good = JSON.stringify({ collection });
const errorOf = (code: string, message: string): string => JSON.stringify({ code, message, trace_id: 'a' });

describe('the internal address of the retrieval service', () => {
  let answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void = () => undefined;
  const server = createServer((incoming, outgoing) => answer(incoming, outgoing));
  const never = new AbortController().signal;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function open({ token = 'a-token', timeoutMs = 60_000, writesAllowed = (): boolean => true } = {}) {
    const { port } = server.address() as AddressInfo;
    const first = (): string => {
      if (token === '') throw new Error('there is no token');
      return token;
    };
    const url = new URL(`http://127.0.0.1:${port}`);
    return createHttpCollections({ url, tokenFile: { first }, timeoutMs, writesAllowed });
  }

  const ensure = (options: Parameters<typeof open>[0] = {}, signal = never) =>
    open(options).ensure(place, { manager: place.collectionId } as never, signal);

  function answers(status: number, body: string, headers: Readonly<Record<string, string>> = {}): void {
    answer = (_incoming, outgoing) => outgoing.writeHead(status, headers).end(body);
  }

  test('a request of the operator to the retrieval service has tenant, collection and token, and returns a collection', async () => {
    const seen: unknown[] = [];
    answer = ({ method, url, headers }, outgoing) => {
      seen.push([method, url, headers.authorization]);
      outgoing.end(good);
    };
    expect(await ensure()).toEqual({ kind: 'ensured', collection, failingProviders: [] });
    const path = `/internal/tenants/sales%20team/collections/${place.collectionId}`;
    expect(seen).toEqual([['PUT', path, 'Bearer a-token']]);
  });

  test('detectors that do not judge are read from the answer of the retrieval service, and a list above the limit is invalid', async () => {
    const failing = { rule: 'names', provider: 'presidio', cause: 'name_not_found' };
    const answerOf = (count: number) =>
      JSON.stringify({ collection, failing_providers: Array.from({ length: count }, () => failing) });
    answers(200, answerOf(8));
    expect(await ensure()).toMatchObject({ kind: 'ensured', failingProviders: Array(8).fill(failing) });
    answers(200, answerOf(9));
    expect(await ensure()).toEqual({ kind: 'away', why: 'invalid_answer' });
  });

  test('an answer of the retrieval service of 65536 bytes is read, and a longer one is invalid', async () => {
    answers(200, good.padEnd(65_536));
    expect((await ensure()).kind).toBe('ensured');
    answers(200, good.padEnd(65_537));
    expect(await ensure()).toEqual({ kind: 'away', why: 'invalid_answer' });
  });

  test.each([
    ['another form', 200, '{"collection":{}}', {}, 'invalid_answer'],
    ['no JSON', 200, 'well', {}, 'invalid_answer'],
    ['a redirect', 307, '', { location: '/elsewhere' }, 'no_answer'],
    ['a refused token', 401, errorOf('unauthorized', 'No.'), {}, 'unauthorized'],
    ['a failure', 503, errorOf('unavailable', 'No.'), {}, 'failed'],
    ['a conflict over an unknown member', 409, errorOf('conflict', '/weather is bad.'), {}, 'failed'],
  ] as const)(
    'after %s of the retrieval service the state of the collection is unknown',
    async (_title, status, body, headers, why) => {
      answers(status, body, headers);
      expect(await ensure()).toEqual({ kind: 'away', why });
    },
  );

  test('a conflict and a refusal of the retrieval service are reported with the member that they name', async () => {
    answers(409, errorOf('conflict', '/name another collection of the tenant has this name.'));
    expect(await ensure()).toEqual({ kind: 'conflict', over: 'name' });
    answers(400, errorOf('invalid_document', 'embedding_profile_id is not an approved embedding profile.'));
    expect(await ensure()).toEqual({ kind: 'refused', member: 'embedding_profile_id' });
  });

  test('a missing token, a timeout and an abort end the request to the retrieval service', async () => {
    expect(await ensure({ token: '' })).toEqual({ kind: 'away', why: 'no_token' });
    answer = () => undefined;
    expect(await ensure({ timeoutMs: 1 })).toEqual({ kind: 'away', why: 'no_answer' });
    await expect(ensure({}, AbortSignal.abort(new Error('the operator ends')))).rejects.toThrow('the operator ends');
  });

  test('an operator that is no longer the leader sends no request to the retrieval service', async () => {
    let requests = 0;
    answer = ({ headers }, outgoing) => {
      // The request that another test aborted may arrive now.
      if (headers.authorization === 'Bearer fenced') requests += 1;
      outgoing.end(good);
    };
    let isLeader = false;
    const collections = open({ token: 'fenced', writesAllowed: () => isLeader });
    const all = () => [
      collections.ensure(place, { manager: place.collectionId } as never, never),
      collections.delete(place, 'a-uid', never),
      collections.release(place, 'a-uid', never),
    ];
    for (const request of all()) await expect(request).rejects.toMatchObject({ code: 'not_leader' });
    expect(requests).toBe(0);
    isLeader = true;
    await Promise.all(all());
    expect(requests).toBe(3);
  });

  test('a deletion and a release of a collection name the manager, and the answer to one is not accepted for the other', async () => {
    const urls: string[] = [];
    answer = ({ method, url = '' }, outgoing) => {
      // The request that was aborted may arrive now.
      if (method === 'DELETE') urls.push(url.replace(/^.*collections\//, ''));
      outgoing.end('{"deleted":true}');
    };
    expect(await open().delete(place, 'a-uid', never)).toEqual({ kind: 'ended' });
    expect(await open().release(place, 'a-uid', never)).toEqual({ kind: 'away', why: 'invalid_answer' });
    const id = place.collectionId;
    expect(urls).toEqual([`${id}?manager=a-uid`, `${id}/manager?manager=a-uid`]);
  });
});
