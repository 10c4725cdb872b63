import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { IngestJob } from '#contracts/retrieval';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { preparedFolder } from '#sql/testing/prepared-folder';
import { startTestServer } from '#sql/testing/test-server';
import { documentOf, startRetrieval } from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { missingPostgres } from '../../libraries/sql/testing/test-database.ts';

const ann = { user: 'ann', groups: ['staff'] };
/** Room for the server and its write-ahead log, and for some tens of documents. */
const diskMib = 160;

test.skipIf(missingPostgres !== undefined)(
  'a full disk of PostgreSQL refuses submits and loses no accepted document; searches are answered, and a reindex ends when it has room',
  async (context) => {
    await using parts = new AsyncDisposableStack();
    const disk = join(parts.use(temporaryFolder()).path, 'disk');
    execFileSync('mkdir', [disk]);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMib}m`, 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      context.skip('needs the right to mount a file system');
    }
    parts.defer(() => {
      execFileSync('umount', ['--lazy', disk]);
    });
    const folder = join(disk, 'server');
    execFileSync('cp', ['-a', await preparedFolder(), folder]);
    const server = parts.use(await startTestServer({ folder }));
    const database = await server.createDatabase();
    const service = parts.use(await startRetrieval(database));
    const made = await service.call(ann, '/v1/collections', { name: 'papers', embedding_profile_id: 'test-profile' });
    expect(made.status).toBe(201);
    const collection = `/v1/collections/${made.json['collection_id']}`;
    const reindex = async () => (await service.call(ann, `${collection}:reindex`, {})).status;
    const best = async () => {
      const query = { collection: 'papers', text: 'badger first', mode: 'bm25' };
      const { json } = await service.call(ann, '/v1/query', query);
      return (json['items'] as readonly { doc_id: string }[] | undefined)?.[0]?.doc_id;
    };
    const submit = (id: string) =>
      service.call(ann, '/v1/documents:submit', {
        documents: [documentOf('papers', id, `badger ${id} `.repeat(500))],
      });
    const jobOf = async (id: string) => (await service.call(ann, `/v1/jobs/${id}`)).json as unknown as IngestJob;
    const first = (await submit('first')).json as { readonly jobs: readonly { readonly job_id: string }[] };
    await until(
      'the first document is indexed',
      async () => (await jobOf(first.jobs[0]?.job_id ?? '')).status === 'DONE',
    );

    const fill = join(disk, 'fill');
    execFileSync('sh', ['-c', `cat /dev/zero > '${fill}' 2>/dev/null || true`]);
    const accepted: string[] = [];
    const refused = await until('a submit is refused', async () => {
      const answer = await submit(`late-${accepted.length}`);
      if (answer.status !== 202) return answer;
      const [job] = answer.json['jobs'] as readonly { readonly job_id: string }[];
      accepted.push(job?.job_id ?? '');
      return undefined;
    });
    expect(refused).toMatchObject({ status: 503, json: { code: 'unavailable' } });
    expect([202, 503]).toContain(await reindex());
    expect(await best()).toBe('first');
    rmSync(fill);
    await until('a reindex is accepted', async () => (await reindex()) === 202);
    await until('a submit is accepted again', async () => (await submit('after')).status === 202);
    await until('every accepted document is indexed', async () => {
      // The test skips the pauses after a fault.
      await database.database.sql`
        update retrieval.jobs set due_at = clock_timestamp(), updated_at = updated_at - interval '1 minute'
        where status in ('PENDING', 'RUNNING') and retry_at is not null`;
      const jobs = await Promise.all(accepted.map(jobOf));
      return jobs.every(({ status }) => status === 'DONE');
    });
    await until('the reindex has ended', async () => {
      const { json } = await service.call(ann, collection);
      return json['active_version'] !== 1 && json['reindex'] === undefined;
    });
    expect(await best()).toBe('first');
  },
);
