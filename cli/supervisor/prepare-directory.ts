import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import { ensureGatewayKeys, gatewayKeySet, readGatewayKeys } from '#identity/gateway-keys';
import { createSecret } from '#kit/files/create-secret';
import { writeAtomic } from '#kit/files/write-atomic';
import { CliError } from '../errors/cli-error.ts';
import { fileFault, isAbsent } from '../errors/file-fault.ts';
import { checkout } from '../platform/data-directory.ts';

/** Files that a first start copies to the watched folder. */
const exampleFiles = ['policy.yaml', 'binding.yaml'] as const;

/** Creates the data directory with mode 0700, if it does not exist. */
export function createRoot(data: DataDirectory): void {
  orRefuse(data, 'created', () => createFolder(data.root));
  orRefuse(data, 'written', () => accessSync(data.root, constants.W_OK | constants.X_OK));
}

function orRefuse(data: DataDirectory, what: 'created' | 'written', act: () => void): void {
  try {
    act();
  } catch (cause) {
    const fault = isAbsent(cause) ? 'its file system accepts no folders' : fileFault(cause)?.fault;
    const reason = fault === undefined ? '' : `, because ${fault}`;
    const sentence = `The data directory ${data.root} cannot be ${what}${reason}: choose another one with --data.`;
    throw new CliError('usage', sentence, { cause });
  }
}

/**
 * The option `recursive: true` is not used, because with it the call never returns on a file system that refuses
 * folders, such as /proc.
 */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) createFolder(parent);
  mkdirSync(path, { mode: 0o700 });
}

/** Refuses a folder with files of other programs, in case `--data` is wrong. */
export function refuseForeignFolder(data: DataDirectory): void {
  const names = readdirSync(data.root);
  if (names.length === 0 || existsSync(data.lock)) return;
  throw new CliError(
    'usage',
    `${data.root} contains other files and no data of a platform: choose an empty or new folder with --data.`,
  );
}

/**
 * Creates the files that the operator does not create: the secrets of gateways, retrieval and database, readable by the
 * owner only, and on a first start the example. Every step is atomic, so that the next start completes a start that was
 * killed.
 * @returns whether the example was copied
 */
export async function prepareDirectory(data: DataDirectory): Promise<boolean> {
  for (const folder of [data.tokens, data.run, data.storedFiles]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  await createSecret(data.adminToken);
  await createSecret(data.retrievalToken);
  await createSecret(data.databasePassword);
  await createSecret(data.cookieKey);
  await createSecret(data.cursorKey);
  await ensureGatewayKeys(data.agentKeys);
  await ensureGatewayKeys(data.fileKeys);
  await writeAtomic(data.fileKeySet, JSON.stringify(gatewayKeySet(await readGatewayKeys(data.fileKeys), new Date())));
  await createSecret(data.clientKeys, (token) => `pk-${token} default`);
  if (existsSync(data.apply)) return false;
  const folder = mkdtempSync(join(data.root, '.apply-'));
  for (const name of exampleFiles) copyFileSync(join(checkout, 'examples/guarded-chat', name), join(folder, name));
  renameSync(folder, data.apply);
  for (const name of readdirSync(data.root)) {
    if (name.startsWith('.apply-')) rmSync(join(data.root, name), { recursive: true });
  }
  return true;
}
