import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';

const lockFile = join(import.meta.dirname, 'install-lock');

let folder: string;
let lock: string;
let notes: string;
const children = new Set<ChildProcess>();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-lock-'));
  lock = join(folder, 'lock');
  notes = join(folder, 'notes');
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  children.clear();
  rmSync(folder, { recursive: true });
});

/** A process that takes the installation lock, works, and releases the lock, as hack/bootstrap does. */
function start(work: string): ChildProcess {
  const script = `
    set -eu
    . "${lockFile}"
    take_lock "${lock}"
    echo "in $$" >>"${notes}"
    ${work}
    echo "out $$" >>"${notes}"
    release_lock "${lock}"`;
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'inherit'] });
  children.add(child);
  return child;
}

const endOf = async (child: ChildProcess): Promise<unknown> =>
  child.exitCode ?? child.signalCode ?? (await once(child, 'exit'))[0];

function notesSoFar(): readonly string[] {
  try {
    return readFileSync(notes, 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
}

/** Expects that each process released the installation lock before the next process acquired it. */
function expectOneAtATime(lines: readonly string[]): void {
  for (let at = 0; at < lines.length; at += 2) {
    expect(lines[at]).toMatch(/^in \d+$/);
    if (at + 1 < lines.length) expect(lines[at + 1]).toBe(lines[at]?.replace('in', 'out'));
  }
}

const holder = (): string => readlinkSync(join(lock, readdirSync(lock).find((name) => name.startsWith('turn-')) ?? ''));

describe('processes that start at once', () => {
  test('processes that start together acquire the installation lock one after another', async () => {
    const many = Array.from({ length: 12 }, () => start('cat /dev/null'));
    expect(await Promise.all(many.map(endOf))).toEqual(many.map(() => 0));
    const lines = notesSoFar();
    expect(lines).toHaveLength(24);
    expectOneAtATime(lines);
    expect(readdirSync(lock)).toHaveLength(1);
    expect(holder()).toBe('free');
  });

  test('the installation lock of a killed process is taken over by one process at a time', async () => {
    const many = Array.from({ length: 6 }, () => start('read -r _'));
    for (let left = many.length; left > 0; left -= 1) {
      const number = many.length - left + 1;
      await until('one is in', () => notesSoFar().length === number);
      const inside = Number(notesSoFar().at(-1)?.slice(3));
      // The other processes wait for this process, which holds the lock.
      expect(holder()).toMatch(new RegExp(`^${inside}\\.`));
      const child = many.find(({ pid }) => pid === inside);
      child?.kill('SIGKILL');
      if (child !== undefined) await endOf(child);
    }
    expect(new Set(notesSoFar()).size).toBe(many.length);
  });
});

describe('a lock', () => {
  test('a process waits for the installation lock of a running process', async () => {
    const first = start('read -r _');
    await until('the first is in', () => notesSoFar().length === 1);
    const second = start('true');
    await until('the second waits', () => descendantSleeps(second));
    expect(notesSoFar()).toHaveLength(1);
    first.stdin?.end('\n');
    expect(await Promise.all([endOf(first), endOf(second)])).toEqual([0, 0]);
    expectOneAtATime(notesSoFar());
  });

  test.each([
    ['of a process that has ended', () => `${deadPid()}.123`],
    ['of a reused process id', () => `${process.pid}.1`],
    ['with an invalid holder', () => 'invalid'],
    ['that was released', () => 'free'],
  ])('an installation lock %s is taken over', async (_what, target) => {
    mkdirSync(lock);
    symlinkSync(target(), join(lock, 'turn-7'));
    expect(await endOf(start('true'))).toBe(0);
    expect(readdirSync(lock)).toEqual(['turn-8']);
  });

  test('an installation lock of an older format does not block', async () => {
    mkdirSync(lock);
    symlinkSync('x', join(lock, 'pid'));
    expect(await endOf(start('true'))).toBe(0);
  });

  test('an installation lock in a folder that cannot be written to fails', async () => {
    symlinkSync('/dev/null', lock);
    expect(await endOf(start('true'))).not.toBe(0);
    expect(notesSoFar()).toEqual([]);
  });
});

function deadPid(): number {
  // No process has this id, because it is above the largest process id of Linux and macOS.
  return 2 ** 22 + 1;
}

function descendantSleeps({ pid }: ChildProcess): boolean {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((name) => {
      try {
        const [, command = '', parent] =
          /^\d+ \((.*)\) \S (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
        return command === 'sleep' && Number(parent) === pid;
      } catch {
        return false;
      }
    });
}
