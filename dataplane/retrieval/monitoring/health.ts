import { readComponents } from '#api/component-health';
import type { Health } from '#contracts/retrieval';
import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';

type Check = () => Promise<unknown>;

type HealthPorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  /** The adapters in use; shown as details. */
  readonly adapters: { readonly queue: string; readonly objects: string; readonly search: string };
  readonly queueAnswers: Check;
  readonly searchAnswers: Check;
};

/**
 * The state of the dependencies under the names of the contract, regardless of the adapter in use: `rabbitmq` is the
 * queue, `s3` the store of objects, `opensearch` the index (obligations retrieval:health:*).
 */
export async function readHealth(ports: HealthPorts): Promise<Health> {
  const { database, objects, adapters } = ports;
  const { status, components } = await readComponents({
    postgres: () => database.sql`select 1`,
    rabbitmq: ports.queueAnswers,
    s3: () => objects.get('health', { maxBytes: 0 }),
    opensearch: ports.searchAnswers,
  });
  const details = { queue: adapters.queue, objects: adapters.objects, search: adapters.search };
  return { status, components, details };
}
