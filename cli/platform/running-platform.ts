import { existsSync } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';
import { CliError } from '../errors/cli-error.ts';
import { chosenDataDirectory } from './data-directory.ts';
import { isLocked } from './lock.ts';
import { type PlatformStatus, readStatusFile } from './status-file.ts';

export type RunningPlatform = { readonly data: DataDirectory; readonly status: PlatformStatus };

/**
 * The running platform of a data directory.
 * @throws CliError not_running
 */
export function runningPlatform(asked: string | undefined): RunningPlatform {
  const data = chosenDataDirectory(asked);
  if (!existsSync(data.root)) {
    throw new CliError('not_running', `${data.root} does not exist: start a platform there with "portcullis up".`);
  }
  if (!existsSync(data.lock)) {
    throw new CliError('not_running', `${data.root} is not the data directory of a platform: check --data.`);
  }
  if (!isLocked(data.lock)) {
    throw new CliError('not_running', `No platform runs on ${data.root}: start one with "portcullis up".`);
  }
  const status = readStatusFile(data.status);
  if (status === undefined) {
    throw new CliError('not_running', `The platform on ${data.root} is still starting: try again in a moment.`);
  }
  return { data, status };
}
