import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '#kit/testing/until';
import { checkout } from '../platform/data-directory.ts';

/**
 * The reason why commands cannot be run on a terminal on this machine; undefined if `script` of util-linux is
 * installed.
 */
export const missingTerminal = /util-linux/.test(String(spawnSync('script', ['--version']).stdout))
  ? undefined
  : 'script of util-linux is not installed';

/** Keys of a terminal. */
export const keys = { ctrlC: '\x03', ctrlD: '\x04' } as const;

/** One answer of a person: the text to type after another text was shown. */
type Typed = { readonly after?: string; readonly text: string };

/**
 * Runs the command line on a pseudo terminal, which shows standard output and standard error together, and the typed
 * text.
 */
export async function runOnTerminal(
  args: readonly string[],
  { data, typed }: { readonly data: string; readonly typed: readonly Typed[] },
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const words = [process.execPath, join(checkout, 'cli/main.ts'), ...args].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  );
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', words.join(' '), '/dev/null'], {
    env: { ...process.env, PORTCULLIS_DATA_DIR: data, SHELL: '/bin/sh', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk;
  });
  const ended = once(child, 'close');
  for (const { after, text } of typed) {
    if (after !== undefined) await until(`the terminal shows ${after}`, () => shown.includes(after));
    child.stdin.write(text);
  }
  const [code] = (await ended) as [number | null];
  return { code, shown: shown.replaceAll('\r\n', '\n') };
}
