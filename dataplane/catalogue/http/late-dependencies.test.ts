import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createGatewayModels } from '#models/gateway-models';
import { authorizationModel } from '#relations/adapters/openfga/authorization-model';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

const nowhere = new URL('http://127.0.0.1:9');
const timeoutMs = 100;
const stores = { find: async () => undefined, claim: async (_key: string, id: string) => id };

/** A server that accepts connections and requests. It answers only the requests that open a store of OpenFGA. */
async function startSilence(): Promise<AsyncDisposable & { readonly url: URL }> {
  const opening: readonly (readonly [RegExp, object])[] = [
    [/^\/stores\?/, { stores: [{ id: '01KB000000000000000000000A', name: 'portcullis' }], continuation_token: '' }],
    [
      /\/authorization-models\?/,
      { authorization_models: [{ id: '01KB000000000000000000000B', ...authorizationModel() }] },
    ],
  ];
  const server = createServer((incoming, outgoing) => {
    const [, answer] = opening.find(([path]) => path.test(incoming.url ?? '')) ?? [];
    if (answer !== undefined)
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('dependencies that accept a request and do not answer'),
  () => {
    const parts = new AsyncDisposableStack();
    let silent: Awaited<ReturnType<typeof startSilence>>;
    const search = (profile: string): RequestInit => ({
      method: 'POST',
      body: JSON.stringify({ query: 'secret-words', workspaceId: 'support', profile }),
      headers: { 'content-type': 'application/json' },
    });
    const ended = async (world: CatalogueWorld, path: string, init: RequestInit = {}) => {
      const { status, text, json } = await world.ask('ann', path, init);
      expect(text).not.toMatch(/127\.0\.0\.1|secret-words|timeout of/);
      return [status, (json['error'] as { readonly code?: string } | undefined)?.code];
    };

    beforeAll(async () => {
      silent = parts.use(await startSilence());
    });
    afterAll(() => parts.disposeAsync());

    verifies(
      ['catalogue:error:timeout', 'catalogue:error:unavailable'],
      'an OpenFGA server that does not answer in time causes 504 for every operation, and a stopped one causes 503',
      async () => {
        const gone = await startSilence();
        for (const [server, outcome] of [
          [silent, [504, 'dependency_timeout']],
          [gone, [503, 'authorization_unavailable']],
        ] as const) {
          const openRights = () =>
            openOpenFgaRelations({ url: server.url, storeName: 'portcullis', stores, timeoutMs });
          await using world = await openCatalogue({ openRights });
          if (server === gone) await gone[Symbol.asyncDispose]();
          for (const [path, init] of [
            ['/api/v1/agents', {}],
            ['/api/v1/agents/01890a5d-ac96-774b-bcce-b302099a80ff', {}],
            ['/api/v1/agents/search', search('terms')],
          ] as const) {
            expect([path, ...(await ended(world, path, init))]).toEqual([path, ...outcome]);
          }
        }
      },
    );

    verifies(
      ['catalogue:error:timeout', 'catalogue:error:unavailable'],
      'a model gateway that does not answer in time causes 504 for a search, a stopped one causes 503, and lists continue',
      async () => {
        for (const [url, outcome] of [
          [silent.url, [504, 'dependency_timeout']],
          [nowhere, [503, 'search_unavailable']],
        ] as const) {
          await using models = createGatewayModels({ url, timeoutMs });
          await using world = await openCatalogue({ config: { embeddingProfile: 'words' }, overrides: { models } });
          const agent = await world.publish('found');
          await world.allow('ann', 'view', agent);
          await world.allow('ann', 'invoke', agent);
          expect(await ended(world, '/api/v1/agents/search', search('hybrid'))).toEqual(outcome);
          expect(await ended(world, '/api/v1/agents/search', search('terms'))).toEqual([200, undefined]);
          expect(await world.listed('ann')).toEqual([agent.agentId]);
        }
      },
    );
  },
);
