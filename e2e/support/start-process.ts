import { type FollowedChild, startFollowed } from '#kit/testing/start-followed';
import { root } from '../../hack/check/run-tool.ts';

/** A process of the platform, started as the platform starts it. */
export type RunningProcess = AsyncDisposable &
  Omit<FollowedChild, 'pid'> & {
    readonly pid: number;
    /** The first line of stdout, as JSON: the addresses that the process listens on. */
    readonly ready: Readonly<Record<string, unknown>>;
    /** Origin on which the process listens. */
    readonly url: string;
  };

export type ProcessOptions = {
  /** Path from the root folder, for example runtime/main.ts. */
  readonly file: string;
  readonly args?: readonly string[];
  /** All environment variables besides PATH, HOME and the folder of compiled sources. */
  readonly environment: Readonly<Record<string, string>>;
};

/** Starts a TypeScript file on this Node in the root folder. */
export function startFile({ file, args = [], environment }: ProcessOptions): FollowedChild {
  return startFollowed([process.execPath, `${root}/${file}`, ...args], {
    cwd: root,
    stdin: 'open',
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: `${root}/node_modules/.cache/node`,
      // If a test is ended without its hooks, its processes end, too.
      PORTCULLIS_EXIT_WITH_STDIN: '1',
      ...environment,
    },
  });
}

/** Starts a main.ts and waits until the process listens; if the process exits before, fails with the end of its log. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const child = startFile(options);
  const ready = JSON.parse(await child.listens(options.file)) as Record<string, unknown>;
  return {
    ...child,
    pid: child.pid ?? 0,
    ready,
    url: String(ready.listening),
    [Symbol.asyncDispose]: async () => void (await child.end()),
  };
}
