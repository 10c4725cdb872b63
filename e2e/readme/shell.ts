import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

/** A shell that runs one command after another, as a user would type them. */
export type InteractiveShell = AsyncDisposable & {
  /** Everything that the command wrote to stdout and stderr, without the last line feed. */
  type(command: string): Promise<string>;
};

export function openShell(folder: string, environment: Readonly<Record<string, string | undefined>>): InteractiveShell {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let held = '';
  child.stdout.setEncoding('utf8');
  child.stdin.write('exec 2>&1\n');
  return {
    async type(command) {
      const mark = `--- ${randomUUID()} ---`;
      // Preserves the exit code of the command in `$?` for a following command that reads it.
      child.stdin.write(`${command}\n{ code=$?; printf '%s\\n' '${mark}'; (exit $code); } </dev/null\n`);
      while (!held.includes(mark)) {
        const [piece] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
        held += piece;
      }
      const [output = '', rest = ''] = held.split(`${mark}\n`);
      held = rest;
      return output.replace(/\n$/, '');
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
