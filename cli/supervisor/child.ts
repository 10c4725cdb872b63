import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { checkout, type DataDirectory } from '../platform/data-directory.ts';
import { largestLogBytes } from './bound-logs.ts';
import { keepRunNote } from './keep-run-note.ts';

export type ProcessKind = 'operator' | 'gateway' | 'echo' | 'postgres' | 'issuer' | 'management';

export type ChildSpec = {
  readonly name: string;
  readonly kind: ProcessKind;
  /** The entry point, relative to the checkout. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The line that a process prints when it is ready: its address and further members. */
const readyLineSchema = z.looseObject({ listening: z.string() });
export type ReadyLine = z.infer<typeof readyLineSchema>;

export type ChildHandle = {
  readonly pid: number;
  readonly startedAt: string;
  /** Undefined if the process ends before it is ready. */
  readonly ready: Promise<ReadyLine | undefined>;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  /** The last lines of its log since the start, for an error message. */
  lastWords(): string;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/**
 * Starts one process of the platform. It has its own process group, so that Ctrl-C reaches only the supervisor, and a
 * pipe that closes when the supervisor dies. Its last argument is the data directory, by which `wait-for-orphans.ts` and
 * users recognise it in a list of processes.
 */
export async function startChild(
  spec: ChildSpec,
  data: DataDirectory,
  say: (sentence: string) => void,
): Promise<ChildHandle> {
  const { log, path, size } = openLog(spec.name, data);
  const process_ = spawn(process.execPath, [join(checkout, spec.file), data.root], {
    cwd: checkout,
    detached: true,
    stdio: ['pipe', 'pipe', log],
    env: { ...process.env, ...spec.env, PORTCULLIS_EXIT_WITH_STDIN: '1' },
  });
  closeSync(log);
  const ended = endOf(process_);
  // A process that could not be started has no pid; `ended` says why.
  const pid = process_.pid ?? -1;
  const startedAt = new Date().toISOString();
  const note = JSON.stringify({ name: spec.name, kind: spec.kind, pid, startedAt });
  const noted = keepRunNote(join(data.run, `${spec.name}.json`), note, ended, say);
  process_.stdin?.on('error', () => undefined);
  const ready = readyLineOf(process_);
  await noted;
  return {
    pid,
    startedAt,
    ready,
    ended,
    lastWords: () => lastWords(path, size),
    async stop(graceMs) {
      process_.kill('SIGTERM');
      const timer = setTimeout(() => process_.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

function lastWords(path: string, from: number): string {
  try {
    const bytes = readFileSync(path);
    // A log that was rotated meanwhile is shorter.
    const lines = bytes
      .subarray(from > bytes.length ? 0 : from)
      .toString('utf8')
      .trimEnd()
      .split('\n');
    return lines
      .filter((line) => !line.startsWith('{'))
      .slice(-3)
      .join(' ')
      .slice(-600);
  } catch {
    return '';
  }
}

function openLog(name: string, data: DataDirectory): { log: number; path: string; size: number } {
  mkdirSync(data.logs, { recursive: true, mode: 0o700 });
  const path = join(data.logs, `${name}.log`);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const isLong = size > largestLogBytes;
  if (isLong) renameSync(path, `${path}.1`);
  return { log: openSync(path, 'a', 0o600), path, size: isLong ? 0 : size };
}

function endOf(process_: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    process_.once('error', (error) => resolve(`could not be started (${'code' in error ? error.code : error.name})`));
    process_.once('exit', (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    );
  });
}

function readyLineOf({ stdout }: ChildProcess): Promise<ReadyLine | undefined> {
  return new Promise((resolve) => {
    // Undefined if no more files can be opened.
    if (!stdout) return resolve(undefined);
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      const read = readyLineSchema.safeParse(parse(line));
      if (read.success) resolve(read.data);
    });
    lines.once('close', () => resolve(undefined));
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
