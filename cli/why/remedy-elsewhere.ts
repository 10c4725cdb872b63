import { quoteWord } from '../command-line/quote-word.ts';
import type { SourceOptions } from '../resources/resource-source.ts';

/**
 * Adds the options `--server` and `--token-file` to a remedy. Without them its commands would use the platform of this
 * machine. Pure.
 */
export function remedyForServer(
  remedy: string,
  { server, tokenFile }: Pick<SourceOptions, 'server' | 'tokenFile'>,
): string {
  if (server === undefined || !/\bportcullis [a-z]/.test(remedy)) return remedy;
  const token = tokenFile === undefined ? '' : ` --token-file ${quoteWord(tokenFile)}`;
  return `${remedy} Commands reach this installation with --server ${quoteWord(server)}${token}.`;
}
