import { exitCodes } from '../../cli/errors/exit-codes.ts';
import { code, page, table } from '../reference/markdown.ts';

/** Exit codes of the command line. */
export function generate(): ReadonlyMap<string, string> {
  const rows = Object.entries(exitCodes).map(([name, entry]) => [String(entry.code), code(name), entry.meaning]);
  const parts = [table(['Code', 'Name', 'Meaning'], rows)];
  const introduction = 'With `--json` the output contains the name. Scripts may rely on codes and names.';
  return new Map([['docs/reference/exit-codes.md', page('Exit codes of portcullis', introduction, parts)]]);
}
