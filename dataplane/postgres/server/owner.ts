import { type Place, startProgram } from './run-program.ts';

/** The role of clients, and its database. It may make databases and is not a superuser: that one has no password. */
export const owner = 'portcullis';

/** Makes the role in a folder that has none. @returns false where PostgreSQL does not take the password */
export function createOwner(place: Place, password: string): Promise<boolean> {
  return runAlone(place, `create role ${owner} login createdb password ${literal(password)}`);
}

/** Gives the role another password. @returns false where PostgreSQL does not take it */
export function setPassword(place: Place, password: string): Promise<boolean> {
  return runAlone(place, `alter role ${owner} password ${literal(password)}`);
}

/** What a failure would write names the statement, which holds the password. */
const settings = {
  exit_on_error: 'on',
  huge_pages: 'off',
  log_min_error_statement: 'panic',
  log_min_messages: 'panic',
  log_statement: 'none',
};

/** Runs a statement of one line as superuser on the folder of a server that does not run: nobody can connect meanwhile. */
function runAlone(place: Place, statement: string): Promise<boolean> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = startProgram('postgres', place, { first: ['--single'], last: [...options, 'postgres'], stdin: 'pipe' });
  child.stderr?.resume();
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false)).once('close', (code) => resolve(code === 0));
  });
  child.stdin?.on('error', () => undefined).end(`${statement};\n`);
  return ended;
}

/** A string of SQL in one line. */
function literal(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `e'${escaped}'`;
}
