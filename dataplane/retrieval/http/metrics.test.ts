import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { RelationsUnavailableError } from '#relations/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const profile = 'embedding:\n  - { id: test-profile, model: m, dimension: 8 }\n';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the metrics of the retrieval service'), () => {
  const folder = temporaryFolder();
  const modelsFile = join(folder.path, 'models.yaml');
  const away = { models: false, relations: false };
  let service: OpenedRetrieval;

  async function series(): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
    const found = [...text.matchAll(/^(portcullis_retrieval_\w+)\{(.*)\} (\S+)$/gm)];
    return new Map(
      found.map(([, name, labels = '', value]) => [
        `${name} ${labels.replace(/,?service="retrieval",?/, '')}`.trim(),
        Number(value),
      ]),
    );
  }
  const failures = async (dependency: string): Promise<number> =>
    (await series()).get(`portcullis_retrieval_dependency_failures_total dependency="${dependency}"`) ?? 0;
  const refused = async (): Promise<number | undefined> =>
    (await series()).get('portcullis_retrieval_file_refused file="models"');

  const submit = (document: object) => service.call(ann, '/v1/documents:submit', { documents: [document] });

  beforeAll(async () => {
    writeFileSync(modelsFile, profile);
    service = await openRetrieval({
      config: { modelsFile },
      overrides: {
        models: scriptedModels(() => {
          if (away.models) throw new ModelsError('unavailable');
        }),
        wrapRelations: (relations) => ({
          ...relations,
          check: (...call) =>
            away.relations ? Promise.reject(new RelationsUnavailableError('away')) : relations.check(...call),
        }),
      },
    });
    await service.call(ann, '/v1/collections', { name: 'handbook', embedding_profile_id: 'test-profile' });
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test('a scrape shows the database, open jobs and dead letters', async () => {
    await service.ingest(ann, [documentOf('handbook', 'travel', 'Hotels cost at most 180 euros a night.')]);
    const found = await series();
    expect(found.get('portcullis_retrieval_database_answers')).toBe(1);
    expect(found.get('portcullis_retrieval_ingest_open_jobs')).toBe(0);
    expect(found.get('portcullis_retrieval_ingest_oldest_job_seconds')).toBe(0);
    expect(found.get('portcullis_retrieval_ingest_dead_letters')).toBe(0);
  });

  test('a scrape shows whether documents are stored UNGUARDED', async () => {
    expect((await series()).get('portcullis_retrieval_documents_unguarded')).toBe(1);
  });

  test('a scrape shows the index in memory and the changes that are not applied yet', async () => {
    expect((await series()).get('portcullis_retrieval_index_loaded_versions')).toBe(0);
    const query = { collection: 'handbook', text: 'hotel', mode: 'bm25' };
    expect(await service.call(ann, '/v1/query', query)).toMatchObject({ status: 200 });
    const loaded = await series();
    expect(loaded.get('portcullis_retrieval_index_loaded_versions')).toBe(1);
    expect(loaded.get('portcullis_retrieval_index_bytes')).toBeGreaterThan(0);
    expect(loaded.get('portcullis_retrieval_index_unapplied_changes')).toBe(0);

    await service.ingest(ann, [documentOf('handbook', 'rail', 'Trains are booked by the office.')]);
    expect((await series()).get('portcullis_retrieval_index_unapplied_changes')).toBeGreaterThan(0);
    expect(await service.call(ann, '/v1/query', query)).toMatchObject({ status: 200 });
    const followed = await series();
    expect(followed.get('portcullis_retrieval_index_unapplied_changes')).toBe(0);
    expect(followed.get('portcullis_retrieval_index_bytes')).toBeGreaterThan(
      loaded.get('portcullis_retrieval_index_bytes') ?? 0,
    );
  });

  test('an open job has an age, and failed embeddings and checks of rights are counted by their dependency', async () => {
    away.models = true;
    const query = { collection: 'handbook', text: 'hotel', mode: 'vector' };
    expect(await failures('models')).toBe(0);
    expect(await service.call(ann, '/v1/query', query)).toMatchObject({ status: 503 });
    expect(await failures('models')).toBe(1);
    await submit(documentOf('handbook', 'pay', 'Salaries are paid on the last day.'));
    await until('the attempt to ingest is counted', async () => ((await failures('models')) > 1 ? true : undefined));
    const found = await series();
    expect(found.get('portcullis_retrieval_ingest_open_jobs')).toBe(1);
    expect(found.get('portcullis_retrieval_ingest_oldest_job_seconds')).toBeGreaterThan(0);
    away.models = false;

    expect(await failures('relations')).toBe(0);
    away.relations = true;
    const { status } = await submit(documentOf('handbook', 'tax', 'Taxes are due in May.'));
    away.relations = false;
    expect(status).toBe(503);
    expect(await failures('relations')).toBe(1);
  });

  test('an invalid change of models.yaml is reported until it is corrected', async () => {
    expect(await refused()).toBe(0);
    writeFileSync(modelsFile, 'embedding: nothing\n');
    await until('the change is refused', async () => ((await refused()) === 1 ? true : undefined));
    writeFileSync(modelsFile, `# corrected\n${profile}`);
    await until('the change is taken', async () => ((await refused()) === 0 ? true : undefined));
  });
});
