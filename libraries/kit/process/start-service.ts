import { type ReadyLine, readReadyLine } from './ready.ts';
import { byLine, type Child, type ChildOptions, startChild } from './start-child.ts';

export type ServiceProcess = Child & {
  /** The line by which it reports that it serves; undefined if it exits before. */
  readonly ready: Promise<ReadyLine | undefined>;
};

type ServiceOptions = Omit<ChildOptions, 'stdin' | 'stdout'> & {
  /** A file that calls `runMain`. */
  readonly file: string;
  readonly args?: readonly string[];
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
};

/**
 * Starts a service of this repository with the Node of this process. The service shuts down when this process exits,
 * however it exits.
 */
export function startService({ file, args = [], nodeOptions = [], env, ...options }: ServiceOptions): ServiceProcess {
  const ready = Promise.withResolvers<ReadyLine | undefined>();
  const child = startChild([process.execPath, ...nodeOptions, file, ...args], {
    ...options,
    env: { ...env, PORTCULLIS_EXIT_WITH_STDIN: '1' },
    stdin: 'open',
    stdout: byLine((text) => {
      const line = readReadyLine(text);
      if (line !== undefined) ready.resolve(line);
    }),
  });
  void child.closed.then(() => ready.resolve(undefined));
  return { ...child, ready: ready.promise };
}
