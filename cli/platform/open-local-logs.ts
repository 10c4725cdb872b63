import { existsSync } from 'node:fs';
import { createFileLogs } from '../logs/read-log-files.ts';
import { defaultNamespace } from '../options/resource-options.ts';
import type { OpenedLogs, SourceOptions } from '../resources/resource-source.ts';
import { chosenDataDirectory } from './data-directory.ts';
import { isLocked } from './lock.ts';
import { refuseOtherNamespace } from './open-platform.ts';
import { runningPlatform } from './running-platform.ts';

/**
 * The logs of a data directory, even while no platform runs in it: then they show how the last platform ended.
 * @throws CliError not_found for another namespace, not_running for a folder without logs in which no platform runs
 */
export function openLocalLogs({ data: asked, namespace = defaultNamespace }: SourceOptions): OpenedLogs {
  refuseOtherNamespace(namespace);
  const data = chosenDataDirectory(asked);
  if (!existsSync(data.logs)) runningPlatform(asked);
  return {
    logs: createFileLogs(data.logs),
    ...(isLocked(data.lock)
      ? {}
      : { ended: `No platform runs on ${data.root}: these are the last lines of its processes.` }),
    explain: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
