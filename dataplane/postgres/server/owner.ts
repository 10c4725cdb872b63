import { type ServerDirectory, startProgram } from './run-program.ts';

/**
 * Role and database of the clients. The role may create databases and is not a superuser; the superuser has no
 * password.
 */
export const owner = 'portcullis';

/** Creates the role of the clients in a new data folder. @returns false if PostgreSQL refuses the password */
export function createOwner(directory: ServerDirectory, password: string): Promise<boolean> {
  return runAlone(directory, `create role ${owner} login createdb password ${literal(password)}`);
}

/** Changes the password of the clients' role. @returns false if PostgreSQL refuses it */
export function setPassword(directory: ServerDirectory, password: string): Promise<boolean> {
  return runAlone(directory, `alter role ${owner} password ${literal(password)}`);
}

/** Errors of PostgreSQL are not logged here: they quote the statement, which contains the password. */
const settings = {
  exit_on_error: 'on',
  huge_pages: 'off',
  log_min_error_statement: 'panic',
  log_min_messages: 'panic',
  log_statement: 'none',
};

/** Runs a one-line statement as superuser in single-user mode, while the server is stopped. */
async function runAlone(directory: ServerDirectory, statement: string): Promise<boolean> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = startProgram('postgres', directory, {
    first: ['--single'],
    last: [...options, 'postgres'],
    stdin: { text: `${statement};\n` },
  });
  const end = await child.closed;
  return end.kind === 'exited' && end.code === 0;
}

/** Quotes a text as an SQL string literal on one line. */
function literal(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `e'${escaped}'`;
}
