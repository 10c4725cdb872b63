import { owner } from './data-folder.ts';
import { type Place, startProgram } from './run-program.ts';

/** What a failure would write names the statement, which holds the password. */
const settings = {
  exit_on_error: 'on',
  huge_pages: 'off',
  log_min_error_statement: 'panic',
  log_min_messages: 'panic',
  log_statement: 'none',
};

/**
 * Gives the owner of the database a password. The server must not run: the program works on the folder alone, and nobody
 * can connect to it.
 * @returns false where PostgreSQL does not take it
 */
export async function setPassword(place: Place, password: string): Promise<boolean> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = startProgram('postgres', place, { first: ['--single'], last: [...options, 'postgres'], stdin: 'pipe' });
  child.stderr?.resume();
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false)).once('close', (code) => resolve(code === 0));
  });
  child.stdin?.on('error', () => undefined).end(`alter role ${owner} password ${literal(password)};\n`);
  return ended;
}

/** A string of SQL in one line, as the program takes it. */
function literal(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `e'${escaped}'`;
}
