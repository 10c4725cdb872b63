import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import { sentence } from '#diagnosis/sentence';
import { quoteWord } from '../command-line/quote-word.ts';
import { CliError } from '../errors/cli-error.ts';
import { causeAndRemedy, withRemedy } from '../why/find-problems.ts';
import { chosenDataDirectory } from './data-directory.ts';
import { storageProblems } from './local-problems.ts';
import { isLocked } from './lock.ts';
import { readStartFailure } from './start-failure.ts';
import { type PlatformStatus, readStatusFile } from './status-file.ts';

export type RunningPlatform = { readonly data: DataDirectory; readonly status: PlatformStatus };

/**
 * The running platform of a data directory.
 * @throws CliError not_running
 */
export function runningPlatform(asked: string | undefined): RunningPlatform {
  const data = chosenDataDirectory(asked);
  if (!existsSync(data.root)) {
    throw new CliError(
      'not_running',
      `${data.root} does not exist: ${startThere(data, asked)}, or name the directory of another platform with --data.`,
    );
  }
  if (!existsSync(data.lock)) {
    throw new CliError('not_running', notData(data, asked));
  }
  if (!isLocked(data.lock)) {
    throw new CliError('not_running', notRunning(data, asked));
  }
  const status = readStatusFile(data.status);
  if (status === undefined) {
    throw new CliError('not_running', `The platform on ${data.root} is still starting: try again in a moment.`);
  }
  return { data, status };
}

/** The remedy for a running platform that was started without an option. */
export function restartWith(option: string): string {
  return `stop the platform, and start it again with ${option} added to its options.`;
}

function notData({ root, lock }: DataDirectory, asked: string | undefined): string {
  const named = asked === undefined ? 'PORTCULLIS_DATA_DIR' : '--data';
  return (
    `${root} is not the data directory of a platform: it has no file named ${JSON.stringify(basename(lock))}. ` +
    `Give the directory of a platform to ${named}, or start one there with "portcullis up --data ${root}".`
  );
}

function startThere(data: DataDirectory, asked: string | undefined): string {
  return `start a platform there with "portcullis up${dataOption(data, asked)}"`;
}

/** The option that makes a command use the same directory, with a leading space; empty if none was given. */
function dataOption({ root }: DataDirectory, asked: string | undefined): string {
  return asked === undefined ? '' : ` --data ${quoteWord(root)}`;
}

/** The error that no platform is running; it begins with the cause of the last failed start. */
function notRunning(data: DataDirectory, asked: string | undefined): string {
  const [problem] = storageProblems(data);
  const failure = problem === undefined ? readStartFailure(data) : causeAndRemedy(withRemedy(problem, 'portcullis'));
  const there = dataOption(data, asked);
  const logs = existsSync(data.logs) ? ` "portcullis logs${there}" shows the last lines of its processes.` : '';
  const remedy = `start one with "portcullis up${there}".${logs}`;
  if (failure === undefined) return `No platform runs on ${data.root}: ${remedy}`;
  return `The last start failed: ${sentence(failure)} No platform runs on ${data.root}: correct the cause, then ${remedy}`;
}
