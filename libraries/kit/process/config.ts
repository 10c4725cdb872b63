/** Whether this process ends together with its parent, which holds the other end of its standard input. */
export function endsWithStdin(env: NodeJS.ProcessEnv = process.env): boolean {
  return env['PORTCULLIS_EXIT_WITH_STDIN'] === '1';
}

/** Environment variables that Node itself needs; a child process gets no others, in particular no secrets. */
const NODE_NEEDS = [
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ'],
  ...['NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_PORTABLE', 'NODE_EXTRA_CA_CERTS'],
];

export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => NODE_NEEDS.includes(name)));
}
