import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { wait } from '#kit/time/wait';
import type { LogName, LogReader, LogSelection } from './log-reader.ts';

const lookEveryMs = 500;

/** The log files of a folder: NAME.log, and NAME.log.1 with older lines. */
export function createFileLogs(folder: string): LogReader {
  return {
    list: async () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((file) => file.endsWith('.log'))
        .toSorted()
        .map((file) => nameOf(file.slice(0, -'.log'.length))),
    read: (name, selection) => readFiles(join(folder, `${name}.log`), selection),
  };
}

/** A process of a workload is named WORKLOAD-NUMBER, a replica COMPONENT-NUMBER. */
function nameOf(name: string): LogName {
  const owner = name.replace(/-\d+$/, '');
  return /^g-[0-9a-f]+-\d+$/.test(name) ? { name, component: 'runtime', workload: owner } : { name, component: owner };
}

async function* readFiles(path: string, selection: LogSelection): AsyncGenerator<string, void, void> {
  const current = textOf(path);
  const lines = selectLines(`${textOf(`${path}.1`)}${current}`.split('\n'), selection, Date.now());
  yield* lines;
  if (selection.follow) yield* followFile(path, Buffer.byteLength(current), selection.signal);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A line without a time belongs to the line before it. */
export function selectLines(
  lines: readonly string[],
  { tail, sinceSeconds }: Pick<LogSelection, 'tail' | 'sinceSeconds'>,
  now: number,
): readonly string[] {
  const since = sinceSeconds === undefined ? Number.NEGATIVE_INFINITY : now - sinceSeconds * 1_000;
  let isRecent = sinceSeconds === undefined;
  const recent = lines.filter((line) => {
    const time = /^\{.*?"time":"([^"]+)"/.exec(line)?.[1];
    if (time !== undefined) isRecent = Date.parse(time) >= since;
    return isRecent && line !== '';
  });
  return tail === undefined ? recent : tail === 0 ? [] : recent.slice(-tail);
}

/** New lines of a file. A file that became shorter was rotated, and is read from its beginning. */
async function* followFile(path: string, from: number, signal: AbortSignal): AsyncGenerator<string, void, void> {
  let position = from;
  let rest = '';
  while (!signal.aborted) {
    const added = readFrom(path, position);
    if (added.wasRotated) rest = '';
    position = added.position;
    const lines = `${rest}${added.text}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    await wait(lookEveryMs, signal);
  }
}

function readFrom(path: string, position: number): { text: string; position: number; wasRotated: boolean } {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return { text: '', position: 0, wasRotated: true };
  }
  try {
    const { size } = fstatSync(file);
    const wasRotated = size < position;
    const start = wasRotated ? 0 : position;
    const buffer = Buffer.alloc(size - start);
    const read = readSync(file, buffer, 0, buffer.length, start);
    // A line whose last character is only partly written is read when it is complete.
    const whole = buffer.lastIndexOf(0x0a, read - 1) + 1;
    return { text: buffer.toString('utf8', 0, whole), position: start + whole, wasRotated };
  } finally {
    closeSync(file);
  }
}
