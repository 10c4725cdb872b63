import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { ModelsError } from '#models/models-error';
import type { Models } from '#models/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const text = 'harbour '.repeat(1_024);

describe.skipIf(missingPostgres !== undefined)(onPostgres('a query that the embedding model refuses'), () => {
  const parts = new AsyncDisposableStack();
  const scripted = scriptedModels();
  let service: OpenedRetrieval;
  let longest = 0;
  let fault: 'refused' | 'denied' = 'refused';
  let lengths: number[] = [];
  const models: Models = {
    ...scripted,
    embed: async (profile, use, texts, call) => {
      if (use === 'passage') return scripted.embed(profile, use, texts, call);
      lengths.push(texts[0]?.length ?? 0);
      if ((texts[0]?.length ?? 0) > longest) throw new ModelsError(fault);
      return scripted.embed(profile, use, texts, call);
    },
    complete: async (_model, { user }) => `${user} basin`,
  };
  const ask = (path: string, body: object) => service.call(ann, path, { collection: 'harbour', ...body });

  beforeAll(async () => {
    const modelsFile = join(parts.use(temporaryFolder()).path, 'models.yaml');
    const embedding = 'embedding: [{ id: test-profile, model: embedder, dimension: 8 }]';
    writeFileSync(modelsFile, `${embedding}\nrewrite: [{ id: short, model: talker }]\n`);
    service = parts.use(await openRetrieval({ overrides: { models }, config: { modelsFile } }));
    await service.call(ann, '/v1/collections', { name: 'harbour', embedding_profile_id: 'test-profile' });
    await service.ingest(ann, [documentOf('harbour', 'a', 'A harbour.')]);
  });
  beforeEach(() => {
    lengths = [];
    fault = 'refused';
  });
  afterAll(() => parts.disposeAsync());

  test('a query that is too long for the embedding model is searched by its beginning', async () => {
    longest = 2_048;
    const { status, json } = await ask('/v1/query', { text, mode: 'vector' });
    expect([status, json['items']]).toMatchObject([200, [{ doc_id: 'a' }]]);
    expect(lengths).toEqual([8_192, 4_096, 2_048]);
  });

  test('a query whose rewritten text the embedding model refuses is searched by the original text, and answered 400 only if that is refused as well', async () => {
    const query = { text: 'harbour', mode: 'vector', rewrite: true };
    for (const given of ['refused', 'denied'] as const) {
      fault = given;
      longest = 'harbour'.length;
      lengths = [];
      const { status, json } = await ask('/v1/query', query);
      expect([status, json['items']]).toMatchObject([200, [{ doc_id: 'a' }]]);
      expect([lengths[0], lengths.at(-1)]).toEqual(['harbour basin'.length, 'harbour'.length]);
      const packed = await ask('/v1/retrieve_and_pack', { ...query, token_budget: 100 });
      expect([packed.status, packed.json['items']]).toMatchObject([200, [{ doc_id: 'a' }]]);
      longest = 'harbour'.length - 1;
      const refused = await ask('/v1/query', query);
      expect([refused.status, refused.json['code']]).toEqual([400, 'invalid_document']);
    }
    longest = 'harbour basin'.length;
    lengths = [];
    expect((await ask('/v1/query', query)).status).toBe(200);
    expect(lengths).toEqual(['harbour basin'.length]);
  });

  test('a query that the embedding model refuses in every length is answered 400 with the path of the text, and so is a denied one', async () => {
    longest = 0;
    const judgements = [{ text, relevant: [{ doc_id: 'a' }] }];
    for (const [given, message] of [
      ['refused', 'is not accepted by the embedding model'],
      ['denied', 'is denied by the guardrail of the model gateway'],
    ] as const) {
      fault = given;
      const answers = [
        [await ask('/v1/query', { text }), 'text'],
        [await ask('/v1/retrieve_and_pack', { text, token_budget: 100 }), 'text'],
        [await ask('/v1/evaluations', { judgements, modes: ['vector'] }), 'judgements[0].text'],
      ] as const;
      for (const [{ status, json }, path] of answers) {
        expect([status, json['code']]).toEqual([400, 'invalid_document']);
        expect(json['message']).toContain(`${path} ${message}`);
      }
    }
  });
});
