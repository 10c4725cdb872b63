import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DataDirectory, dataDirectory } from '#contracts/data-directory';

/** The root of the checkout. */
export const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** The data directory that `--data` names, else PORTCULLIS_DATA_DIR, else `.portcullis` in the checkout. */
export function chosenDataDirectory(asked: string | undefined): DataDirectory {
  const fromEnvironment = process.env['PORTCULLIS_DATA_DIR'] ?? '';
  const named = asked ?? (fromEnvironment === '' ? undefined : fromEnvironment);
  return dataDirectory(named === undefined ? join(checkout, '.portcullis') : resolve(named));
}
