import { CliError } from '../errors/cli-error.ts';
import { readSource } from '../manifests/read-sources.ts';

const remedy = 'stop the platform, delete the file if it exists, and start it again, which writes a new key';

/**
 * The client key: the first word of the first line of the file.
 * @param toDo the remedy for a file that is absent or empty
 * @throws CliError not_found, failed
 */
export function readClientKey(path: string, toDo = remedy): string {
  const word = readSource(path, toDo).bytes.toString('utf8').split('\n', 1)[0]?.trim().split(/\s+/)[0];
  if (word === undefined || word === '')
    throw new CliError('failed', `The client key file ${path} contains no key: ${toDo}.`);
  return word;
}
