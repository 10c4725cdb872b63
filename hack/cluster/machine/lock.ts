import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#kit/testing/until';
import { takeLock } from '../../../cli/platform/lock.ts';
import { ClusterError } from './cluster-error.ts';
import { cacheFolder } from './places.ts';

/** How long a command waits for another command before it reports that it is waiting, milliseconds. */
const patienceMs = 600_000;

/** Locks an object against changes by other commands, in any process, until the lock is disposed. */
export async function holdLock(name: string): Promise<Disposable> {
  const folder = join(cacheFolder(), 'locks');
  mkdirSync(folder, { recursive: true });
  try {
    return await until(`the lock ${name}`, () => takeLock(join(folder, name)), { deadlineMs: patienceMs });
  } catch (cause) {
    throw new ClusterError(
      'busy',
      `Another command has worked on ${name} for ten minutes: end that command and try again.`,
      {
        cause,
      },
    );
  }
}
