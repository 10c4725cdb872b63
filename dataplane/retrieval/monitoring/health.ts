import type { Health } from '#contracts/retrieval';
import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';

type Check = () => Promise<unknown>;

/** Longest wait for one dependency, milliseconds. */
const timeoutMs = 2_000;

type HealthPorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  /** Which adapters are in use; shown as details. */
  readonly adapters: { readonly queue: string; readonly objects: string; readonly search: string };
  readonly queueAnswers: Check;
  readonly searchAnswers: Check;
};

/**
 * The state of the dependencies under the names of the contract, whatever adapter is in use: `rabbitmq` is the queue, `s3`
 * the store of objects, `opensearch` the index (obligations retrieval:health:*).
 */
export async function readHealth(ports: HealthPorts): Promise<Health> {
  const { database, objects, adapters } = ports;
  const [postgres, rabbitmq, s3, opensearch] = await Promise.all([
    answers(() => database.sql`select 1`),
    answers(ports.queueAnswers),
    answers(() => objects.get('health', { maxBytes: 0 })),
    answers(ports.searchAnswers),
  ]);
  const components = { postgres, rabbitmq, s3, opensearch };
  const isWell = Object.values(components).every((state) => state === 'ok');
  const details = { queue: adapters.queue, objects: adapters.objects, search: adapters.search };
  return { status: isWell ? 'ok' : 'degraded', components, details };
}

function answers(check: Check): Promise<'ok' | 'degraded'> {
  const late = new Promise<'degraded'>((resolve) => {
    setTimeout(() => resolve('degraded'), timeoutMs).unref();
  });
  const answer = Promise.resolve()
    .then(check)
    .then(
      () => 'ok' as const,
      () => 'degraded' as const,
    );
  return Promise.race([answer, late]);
}
