import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';

/** The first lines that a command prints for each broken set-up, as a table for the log of the suite. */
type FirstLines = {
  /**
   * Repeats a command until the first line of its output names the cause. The remedy follows in that line or in the
   * next line.
   */
  expect(setup: string, command: string, run: () => Promise<ProgramEnd>, cause: RegExp, remedy: RegExp): Promise<void>;
  table(): string;
};

export function createFirstLines(): FirstLines {
  const rows: string[] = [];
  return {
    async expect(setup, command, run, cause, remedy) {
      const line = await until(
        `${command} names the cause: ${setup}`,
        async () => {
          const { stdout, stderr } = await run();
          const [first = '', second = ''] = `${stdout}${stderr}`.split('\n');
          if (cause.test(first) && remedy.test(`${first}\n${second}`)) return first;
          throw new Error(`${first}\n${second}`);
        },
        { everyMs: 100 },
      );
      rows.push([setup, command, line].join(' | '));
    },
    table: () => [`${rows.length} broken set-ups`, 'set-up | command | first line', ...rows].join('\n'),
  };
}
