import { type ServerDirectory, startProgram } from './run-program.ts';

/** The role of clients and its database. It may create databases and is no superuser; the superuser has no password. */
export const owner = 'portcullis';

/** Creates the role in a new folder. @returns false if PostgreSQL refuses the password */
export function createOwner(directory: ServerDirectory, password: string): Promise<boolean> {
  return runAlone(directory, `create role ${owner} login createdb password ${literal(password)}`);
}

/** Changes the password of the role. @returns false if PostgreSQL refuses it */
export function setPassword(directory: ServerDirectory, password: string): Promise<boolean> {
  return runAlone(directory, `alter role ${owner} password ${literal(password)}`);
}

/** Errors are not logged: they quote the statement, which contains the password. */
const settings = {
  exit_on_error: 'on',
  huge_pages: 'off',
  log_min_error_statement: 'panic',
  log_min_messages: 'panic',
  log_statement: 'none',
};

/** Runs a statement of one line as superuser in single-user mode, while the server is stopped. */
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

/** An SQL string literal in one line. */
function literal(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `e'${escaped}'`;
}
