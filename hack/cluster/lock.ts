import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../../cli/platform/lock.ts';
import { until } from '../../e2e/support/until.ts';
import { ClusterError } from './cluster-error.ts';
import { cacheFolder } from './places.ts';

/** A command reports that it waits for another one only after this long. */
const patienceMs = 600_000;

/** Blocks every other command that changes the same object, in any process, until it is disposed. */
export async function holdLock(name: string): Promise<Disposable> {
  const folder = join(cacheFolder(), 'locks');
  mkdirSync(folder, { recursive: true });
  try {
    return await until(`the lock ${name}`, () => takeLock(join(folder, name)), { deadlineMs: patienceMs });
  } catch (cause) {
    throw new ClusterError('busy', `Another command works on ${name} for ten minutes already: end it and try again.`, {
      cause,
    });
  }
}
