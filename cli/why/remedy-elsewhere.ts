import { quoteWord } from '../command-line/quote-word.ts';
import type { SourceOptions } from '../resources/resource-source.ts';

/**
 * Adds to a remedy the options that selected the installation, `--server` with its token or `--data`. Without these
 * options the commands would use the platform of the checkout. The function is pure.
 */
export function remedyElsewhere(
  remedy: string,
  { server, tokenFile, data }: Pick<SourceOptions, 'server' | 'tokenFile' | 'data'>,
): string {
  if (!/\bportcullis [a-z]/.test(remedy)) return remedy;
  if (server !== undefined) {
    const token = tokenFile === undefined ? '' : ` --token-file ${quoteWord(tokenFile)}`;
    return `${remedy} Commands reach this installation with --server ${quoteWord(server)}${token}.`;
  }
  return data === undefined ? remedy : `${remedy} Commands reach this platform with --data ${quoteWord(data)}.`;
}
