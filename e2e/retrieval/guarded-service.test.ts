import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { createEchoService } from '../../dataplane/echo/service.ts';
import { routeGuard, routeSpec, storedRoute } from '../../dataplane/gateway/testing/route-builder.ts';
import { clientKey } from '../../dataplane/gateway/testing/start-gateway.ts';
import { runtimeToken, startWorld, type World, words } from '../../dataplane/gateway/testing/start-world.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { defaultBundleLimits } from '../../libraries/contracts/bundle.ts';
import type { ServedTarget } from '../../libraries/contracts/served-target.ts';
import { createGatewayModels } from '../../libraries/models/gateway-models.ts';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';
import { verifies } from '../support/verifies.ts';

/** The retrieval service with a real gateway, a real guardrail for documents and the echo provider. */
const ann = { user: 'ann', groups: ['staff'] };
const rankers = [
  { id: 'echo-ranker', model: 'echo', maxDocuments: 100 },
  { id: 'unused', model: 'counted', maxDocuments: 100 },
];
const embedders = ['echo', 'guarded'].map((model) => ({ id: model, model, dimension: 384, sendDimension: true }));
const profiles = { embedding: embedders, rerank: rankers, rewrite: [{ id: 'echo', model: 'echo' }] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the retrieval service with its models and guard'), () => {
  const stack = new AsyncDisposableStack();
  let world: World;
  let service: OpenedRetrieval;

  beforeAll(async () => {
    const echo = stack.use(await createEchoService({ host: '127.0.0.1', port: 0, chunkDelayMs: 0 }));
    world = stack.use(await startWorld());
    const { gateway, policy, folder, upstream } = world;
    const endpoint = `${echo.url}/v1`;
    gateway.routes.put(storedRoute('echo', routeSpec('echo', endpoint, { mode: 'None' })));
    gateway.routes.put(storedRoute('behind', routeSpec('guarded', endpoint, routeGuard(policy.pin))));
    gateway.routes.put(storedRoute('counted', routeSpec('counted', `${upstream.url}/v1`, { mode: 'None' })));
    const url = new URL(gateway.service.url);
    const models = stack.use(createGatewayModels({ url, tokenFile: { first: () => clientKey } }));
    await until('the routes are loaded', () => models.complete('echo', { system: 's', user: 'u' }).catch(() => false));
    service = stack.use(await openService(models, folder));
  });
  afterAll(() => stack.disposeAsync());

  async function openService(models: ReturnType<typeof createGatewayModels>, folder: string): Promise<OpenedRetrieval> {
    const { policyId, policyRevision, digest: bundleDigest, addresses } = world.policy.pin;
    const { maxBodyBytes, maxMessages } = defaultBundleLimits;
    const target: ServedTarget = {
      addresses: [...addresses],
      policyId,
      policyRevision,
      bundleDigest,
      contentProfile: world.policy.contentProfile,
      maxBodyBytes,
      maxMessages,
      deadlineMs: { request: 1_000, response: 1_000 },
      division: { allowed: true },
    };
    const targetFile = join(folder, 'target.json');
    const tokenFile = join(folder, 'guard.token');
    const modelsFile = join(folder, 'models.yaml');
    await writeFile(targetFile, JSON.stringify(target));
    await writeFile(tokenFile, runtimeToken);
    await writeFile(modelsFile, JSON.stringify(profiles));
    return openRetrieval({ overrides: { models }, config: { modelsFile, guard: { targetFile, tokenFile } } });
  }

  async function collection(name: string, more: object = {}): Promise<void> {
    const body = { name, embedding_profile_id: 'echo', ...more };
    expect(await service.call(ann, '/v1/collections', body)).toMatchObject({ status: 201 });
  }
  const search = async (body: object) => (await service.call(ann, '/v1/query', body)).json;
  const idsOf = ({ items }: Readonly<Record<string, unknown>>) =>
    (items as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id);

  verifies(
    ['client:mask:original-not-stored', 'client:mask:original-not-indexed'],
    'a text that the policy for documents masks is found and returned masked only',
    async () => {
      await collection('masked');
      const text = `The payment by ${words.maskedInput} is late. ${'Ordinary words follow. '.repeat(2_000)}`;
      const [job] = await service.ingest(ann, [
        documentOf('masked', 'pay', text, { metadata: { note: words.maskedInput } }),
      ]);
      expect(job).toMatchObject({ status: 'DONE' });
      const found = await search({ collection: 'masked', text: 'payment late', mode: 'hybrid' });
      expect(idsOf(found)).toContain('pay');
      expect(JSON.stringify(found)).toContain('The payment by *** is late.');
      expect(JSON.stringify(found)).not.toContain(words.maskedInput);
      expect(await search({ collection: 'masked', text: '4111', mode: 'bm25' })).toMatchObject({ items: [] });
    },
  );

  verifies(
    ['retrieval:delete:content-never-blocks'],
    'a denied document ends FAILED without its text, is not found, and can be deleted',
    async () => {
      await collection('denied');
      const denied = documentOf('denied', 'plan', `a secret plan with ${words.deniedInput}`);
      const [job] = await service.ingest(ann, [denied]);
      expect(job).toMatchObject({ status: 'FAILED', available_at: null });
      expect(job?.error).toContain('denies');
      expect(job?.error).not.toContain('plan');
      expect(await search({ collection: 'denied', text: 'secret plan', mode: 'bm25' })).toMatchObject({ items: [] });
      const [deleted] = await service.ingest(ann, [{ ...denied, op: 'delete', idempotency_key: 'delete-plan' }]);
      expect(deleted).toMatchObject({ status: 'DONE', op: 'delete' });
    },
  );

  test('a text that the guardrail of the gateway denies ends its query with 400', async () => {
    await collection('behind', { embedding_profile_id: 'guarded' });
    const query = { collection: 'behind', text: `find ${words.deniedInput}`, mode: 'vector' };
    const answer = await service.call(ann, '/v1/query', query);
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_document' } });
    expect(JSON.stringify(answer.json)).not.toContain(words.deniedInput);
  });

  verifies(
    ['retrieval:query:rerank-approved-only'],
    'a query is reranked by the approved profile of its collection, and not by a profile that is not approved',
    async () => {
      await collection('ranked');
      await collection('unranked', { retrieval_defaults: { rerank_profile_id: 'not-approved' } });
      const texts = ['figures of the apple harvest and many more words beside them', 'apple harvest'];
      for (const name of ['ranked', 'unranked']) {
        await service.ingest(
          ann,
          texts.map((text, at) => documentOf(name, `doc-${at}`, text)),
        );
      }
      world.upstream.forget();
      const query = { text: 'apple harvest', mode: 'bm25', rerank: true, rewrite: true };
      const ranked = await search({ collection: 'ranked', ...query });
      expect(ranked).toMatchObject({ meta: { rerank: true } });
      expect(idsOf(ranked)[0]).toBe('doc-1');
      expect(await search({ collection: 'unranked', ...query })).toMatchObject({
        meta: { rerank: false },
        items: [{}, {}],
      });
      expect(world.upstream.seen).toEqual([]);
    },
  );
});
