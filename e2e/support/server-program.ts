import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#kit/testing/until';
import { cacheFolder } from '../../hack/cluster/machine/places.ts';

/** A program that `npm run cluster program NAME` builds; tests do not build it. */
type ServerProgram = {
  readonly path: string | undefined;
  /** Why the program cannot be started; undefined if it can. */
  readonly missing: string | undefined;
  /** The title of a suite that needs the program, with the reason if it is skipped. */
  on(title: string): string;
};

/** @param module folder of hack/cluster/tools with the Go module of the program */
export function findServerProgram(module: string, name: string): ServerProgram {
  const [path] = globSync(join(cacheFolder(), 'programs', module, '*', name));
  const missing = path === undefined ? `${name} is not built: 'npm run cluster program ${name}' builds it` : undefined;
  return { path, missing, on: (title) => (missing === undefined ? title : `${title} (${missing})`) };
}

export type SpawnedServer = AsyncDisposable & {
  readonly child: ChildProcess;
  /** Kills the server. */
  end(): Promise<void>;
};

type ServerStart = {
  readonly program: ServerProgram;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the server answers requests; the function may throw. */
  readonly serves: () => Promise<boolean>;
};

/** Starts a real server and waits until it serves. */
export async function startServerProgram({ program, args, environment, serves }: ServerStart): Promise<SpawnedServer> {
  if (program.path === undefined) throw new Error(program.missing);
  const child = spawn(program.path, args, { stdio: 'ignore', env: { ...environment } });
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await until(`${program.path} serves`, serves);
  } catch (error) {
    await end();
    throw error;
  }
  return { child, end, [Symbol.asyncDispose]: end };
}
