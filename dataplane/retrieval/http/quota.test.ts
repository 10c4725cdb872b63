import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { until } from '../../../e2e/support/until.ts';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const other = { ...ann, tenant: 'other' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('quotas of a tenant'), () => {
  let service: OpenedRetrieval;
  let held = Promise.withResolvers<void>();
  const submit = async (ids: readonly string[], more: object = {}, caller: typeof ann & { tenant?: string } = ann) => {
    const documents = ids.map((id) => documentOf('handbook', id, 'A text.', more));
    const { status, json, headers } = await service.call(caller, '/v1/documents:submit', { documents });
    return { status, code: json['code'], retryAfter: headers.get('retry-after') };
  };
  const accepted = { status: 202, code: undefined, retryAfter: null };
  const refused = { status: 429, code: 'rate_limited', retryAfter: '1' };
  const remove = { op: 'delete', content: undefined };

  beforeAll(async () => {
    held.resolve();
    service = await openRetrieval({
      overrides: { models: scriptedModels(() => held.promise) },
      config: { tenantQuota: { documents: 4, openJobs: 3 } },
    });
    for (const caller of [ann, other]) {
      const body = { name: 'handbook', embedding_profile_id: 'test-profile' };
      expect((await service.call(caller, '/v1/collections', body)).status).toBe(201);
    }
  });
  afterAll(async () => {
    held.resolve();
    await service?.[Symbol.asyncDispose]();
  });

  test('a submit that exceeds the quota of open jobs is answered 429, and one that reaches it is accepted', async () => {
    held = Promise.withResolvers();
    expect(await submit(['a', 'b', 'c', 'd'])).toEqual(refused);
    expect(await submit(['a', 'b'])).toEqual(accepted);
    expect(await submit(['c', 'd'])).toEqual(refused);
    expect(await submit(['c'])).toEqual(accepted);
    expect(await submit(['d'])).toEqual(refused);
    expect(await submit(['a'], remove)).toEqual(accepted);
    expect(await submit(['a', 'b', 'c'], { tenant_id: 'other' }, other)).toEqual(accepted);
    held.resolve();
    await until('no job is open', async () => {
      const { json } = await service.call(ann, '/v1/jobs?collection=handbook');
      return (json['items'] as readonly { status: string }[]).every(({ status }) => status === 'DONE');
    });
  });

  test('new documents beyond the quota are refused; existing documents can be replaced and removed', async () => {
    await service.ingest(
      ann,
      ['a', 'b'].map((id) => documentOf('handbook', id, 'A text.')),
    );
    await service.ingest(
      ann,
      ['c', 'd'].map((id) => documentOf('handbook', id, 'A text.')),
    );
    expect(await submit(['e'])).toEqual(refused);
    await service.ingest(ann, [documentOf('handbook', 'a', 'Another text.')]);
    expect(await submit(['a', 'e'])).toEqual(refused);
    await service.ingest(ann, [documentOf('handbook', 'd', '', remove)]);
    expect(await submit(['e'])).toEqual(accepted);
  });
});
