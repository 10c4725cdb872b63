/** Whether this process ends with its parent, which holds the other end of its standard input. */
export function endsWithStdin(env: NodeJS.ProcessEnv = process.env): boolean {
  return env['PORTCULLIS_EXIT_WITH_STDIN'] === '1';
}
