import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The output of a child process since its start. */
type FollowedChild = {
  /** Everything on stderr so far. */
  readonly log: () => string;
  /** The first line of stdout: the address on which a process of the platform listens. */
  readonly firstLine: () => string | undefined;
  readonly hasEnded: () => boolean;
};

/** @param child started with pipes for stdout and stderr */
export function followChild(child: ChildProcess): FollowedChild {
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  let first: string | undefined;
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      first ??= line;
    });
  }
  return {
    log: () => log,
    firstLine: () => first,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  };
}
