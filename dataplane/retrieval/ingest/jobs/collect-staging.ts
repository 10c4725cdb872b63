import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';
import { stagingFolder } from '../submit/staged-document.ts';

const uuidType = 2950;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Age at which a staged object without a job is deleted, hours: its submit has ended long before. */
const orphanHours = 24;

/** Number of objects whose jobs one statement looks up. */
const batch = 500;

type StagingPorts = { readonly database: Database; readonly objects: ObjectStore };

type CollectOptions = {
  /** The current time by the clock that dates the objects of the store. */
  readonly now: Date;
  /** Called for each object that cannot be deleted; the objects after it are deleted. */
  readonly onFailed: (error: unknown) => void;
  readonly signal: AbortSignal;
};

/**
 * Deletes staged objects that no job needs: objects of submits that did not commit, and objects whose job ended and was
 * settled while the store was unavailable.
 * @returns the number of deleted objects
 * @throws the failure of a list or of the database; an object that cannot be deleted is tried again by a later call
 */
export async function collectStaging(ports: StagingPorts, { now, onFailed, signal }: CollectOptions): Promise<number> {
  const latest = now.getTime() - orphanHours * 3_600_000;
  let deleted = 0;
  let keys: string[] = [];
  const flush = async (): Promise<void> => {
    for (const key of await unreferenced(ports.database, keys)) {
      if (signal.aborted) return;
      try {
        await ports.objects.delete(key);
        deleted += 1;
      } catch (error) {
        onFailed(error);
      }
    }
    keys = [];
  };
  for await (const { key, modifiedAt } of ports.objects.list(`${stagingFolder}/`)) {
    if (signal.aborted) return deleted;
    if (modifiedAt.getTime() > latest) continue;
    keys.push(key);
    if (keys.length === batch) await flush();
  }
  await flush();
  return deleted;
}

async function unreferenced({ sql }: Database, keys: readonly string[]): Promise<readonly string[]> {
  if (keys.length === 0) return [];
  const ids = keys.map(jobIdOf).filter((id) => uuid.test(id));
  const rows = await sql<{ payload_key: string }[]>`
    select payload_key from retrieval.jobs
    where job_id in (select unnest(${sql.array(ids, uuidType)}::uuid[])) and staged`;
  const kept = new Set(rows.map((row) => row.payload_key));
  return keys.filter((key) => !kept.has(key));
}

function jobIdOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
