import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { createOwner } from './owner.ts';
import { type ServerDirectory, startProgram } from './run-program.ts';
import { ServerError } from './server-error.ts';

type FolderOptions = {
  readonly folder: string;
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  readonly password: string;
};

/**
 * Creates the data folder if it is missing, under a temporary name first, so that a killed start leaves no partial folder
 * under the final name.
 * @returns its path
 * @throws ServerError
 */
export async function openDataFolder(options: FolderOptions): Promise<string> {
  const { folder, account, binaries } = options;
  const data = join(folder, 'data');
  makeFolder(folder, account);
  if (existsSync(data)) {
    refuseOtherMajor(data, binaries.major);
    // The pod setting fsGroup opens every folder of a volume to the group, which PostgreSQL refuses.
    makeFolder(data, account);
    return data;
  }
  const unfinished = join(folder, 'data.new');
  rmSync(unfinished, { recursive: true, force: true });
  makeFolder(unfinished, account);
  await initialise({ binaries, account, data: unfinished }, options.password);
  renameSync(unfinished, data);
  return data;
}

const initOptions = [
  '--username=postgres',
  // writeClientRules writes this file at every start.
  '--auth=reject',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--set=huge_pages=off',
  '--no-instructions',
];

async function initialise(directory: ServerDirectory, password: string): Promise<void> {
  // The last lines on standard error explain the failure to a person.
  let lastWords = '';
  const child = startProgram('initdb', directory, {
    last: initOptions,
    stderr: (text) => {
      lastWords = `${lastWords}${text}`.slice(-500);
    },
  });
  const end = await child.closed;
  if (end.kind !== 'exited' || end.code !== 0) {
    const words = lastWords.trim().replaceAll(/\s+/g, ' ');
    throw new ServerError('folder_unusable', `the data folder of PostgreSQL cannot be created: ${words}`);
  }
  if (await createOwner(directory, password)) return;
  throw new ServerError('wrong_password', 'the database refuses the password of the file: write another one');
}

function makeFolder(path: string, account: Account | undefined): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if (account !== undefined) chownSync(path, account.uid, account.gid);
    chmodSync(path, 0o700);
  } catch (cause) {
    throw new ServerError('folder_unusable', `the folder ${path} cannot be created or given its owner`, cause);
  }
}

function refuseOtherMajor(data: string, major: number): void {
  const found = Number.parseInt(readVersion(data), 10);
  if (found === major) return;
  const sentence =
    `${data} holds a database of PostgreSQL ${Number.isNaN(found) ? 'of unknown version' : found}, this is ${major}: ` +
    'start the release that made it and dump what you want to keep, or move the folder away to begin with an empty one; ' +
    'docs/runbooks/database-of-another-major-version.md says how';
  throw new ServerError('other_major_version', sentence);
}

function readVersion(data: string): string {
  try {
    return readFileSync(join(data, 'PG_VERSION'), 'utf8');
  } catch {
    return '';
  }
}
