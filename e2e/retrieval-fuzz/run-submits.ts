import { Agent, request } from 'node:http';
import { until } from '#kit/testing/until';
import type { TestDatabase } from '#sql/testing/test-server';
import { startRetrieval } from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { randomFrom } from '../support/random-from.ts';
import { makeSubmit } from './make-submit.ts';
import { expectedStatus, fuzzCollections, fuzzTenant } from './reference-submit.ts';

type SubmitFuzz = {
  readonly submits: number;
  /** Answers by status. */
  readonly answers: ReadonlyMap<number, number>;
  /** Submits that were answered 202 although the contract refuses them. */
  readonly wrongAccepted: number;
  /** Submits that were refused or failed although the contract requires another answer. */
  readonly otherDifferences: number;
  /** Answers of 500 and above, lost connections, and jobs that are not DONE or FAILED with a reason. */
  readonly crashes: number;
  readonly jobs: number;
  /** The first differences, each with the body that reproduces it. */
  readonly examples: readonly string[];
};

/** Number of concurrent callers. */
const callers = 8;
const shownExamples = 40;

/** Sends submits to the service over a real database and compares each answer with the reference. */
export async function fuzzSubmits(
  opened: TestDatabase,
  { submits, seed, say }: { readonly submits: number; readonly seed: number; readonly say: (text: string) => void },
): Promise<SubmitFuzz> {
  await using service = await startRetrieval(opened, { config: { ingestConcurrency: 4 } });
  const ann = { user: 'ann', tenant: fuzzTenant };
  for (const [name, { requiresAcl }] of Object.entries(fuzzCollections)) {
    const body = { name, embedding_profile_id: 'test-profile', visibility: requiresAcl ? 'private' : 'public' };
    const { status } = await service.call(ann, '/v1/collections', body);
    if (status !== 201) throw new Error(`the collection ${name} was answered ${status}`);
  }
  const found = { answers: new Map<number, number>(), wrongAccepted: 0, otherDifferences: 0, crashes: 0 };
  const examples: string[] = [];
  const random = randomFrom(seed);
  const agent = new Agent({ keepAlive: true });
  let sent = 0;
  const callNext = async (): Promise<void> => {
    while (sent < submits) {
      sent += 1;
      if (sent % 10_000 === 0) say(`${sent} submits`);
      const body = makeSubmit(random);
      const [expected, status] = [expectedStatus(body), await send(agent, service.url, body)];
      found.answers.set(status, (found.answers.get(status) ?? 0) + 1);
      if (status === expected) continue;
      if (status === 202) found.wrongAccepted += 1;
      else if (status === 0 || status >= 500) found.crashes += 1;
      else found.otherDifferences += 1;
      if (examples.length < shownExamples) {
        examples.push(`${status} instead of ${expected}: ${body.toString().slice(0, 2_000)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, callNext));
  agent.destroy();
  const jobs = await endedJobs(opened);
  for (const reason of jobs.unexplained) examples.push(`a job ended without a reason of its document: ${reason}`);
  return { ...found, crashes: found.crashes + jobs.unexplained.length, submits: sent, jobs: jobs.count, examples };
}

/** Sends a body and returns the status of the answer; 0 if there was no answer. */
function send(agent: Agent, url: string, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'x-tenant-id': fuzzTenant, 'x-user-id': 'ann' };
    const sent = request(`${url}/v1/documents:submit`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', () => resolve(0)).end(body);
  });
}

/**
 * Waits until every job has ended or is retrying to fetch its content. Returns the number of jobs, and the jobs that
 * failed for a reason outside their document.
 */
async function endedJobs({
  database: { sql },
}: TestDatabase): Promise<{ readonly count: number; readonly unexplained: readonly string[] }> {
  const isFetching = sql`(unavailable_since is not null and status = 'RUNNING')`;
  await until(
    'every job has ended',
    async () => {
      const [open] = await sql<{ count: number }[]>`
        select count(*)::int as count from retrieval.jobs where status not in ('DONE', 'FAILED')
          and deliveries < 3 and not ${isFetching}`;
      return open?.count === 0;
    },
    { deadlineMs: 1_800_000, everyMs: 500 },
  );
  const [all] = await sql<{ count: number }[]>`select count(*)::int as count from retrieval.jobs`;
  const unexplained = await sql<{ job_id: string; what: string }[]>`
    select job_id, coalesce(failure_code, status) as what from retrieval.jobs
    where status <> 'DONE' and not ${isFetching}
      and (failure_code is null or failure_code in ('too_many_deliveries', 'dependency_unavailable'))`;
  return { count: all?.count ?? 0, unexplained: unexplained.map(({ what }) => what) };
}
