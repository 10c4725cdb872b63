import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ModelsError } from '#models/models-error';
import type { Models } from '#models/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const text = 'harbour '.repeat(1_024);

describe.skipIf(missingPostgres !== undefined)(onPostgres('a query that the embedding model refuses'), () => {
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
  };
  const ask = (path: string, body: object) => service.call(ann, path, { collection: 'harbour', ...body });

  beforeAll(async () => {
    service = await openRetrieval({ overrides: { models } });
    await service.call(ann, '/v1/collections', { name: 'harbour', embedding_profile_id: 'test-profile' });
    await service.ingest(ann, [documentOf('harbour', 'a', 'A harbour.')]);
  });
  beforeEach(() => {
    lengths = [];
    fault = 'refused';
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test('because it is too long is searched by its beginning', async () => {
    longest = 2_048;
    const { status, json } = await ask('/v1/query', { text, mode: 'vector' });
    expect([status, json['items']]).toMatchObject([200, [{ doc_id: 'a' }]]);
    expect(lengths).toEqual([8_192, 4_096, 2_048]);
  });

  test('in every length is answered 400 with the path of the text, and so is a denied one', async () => {
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
