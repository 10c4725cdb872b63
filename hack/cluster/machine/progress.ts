/** Reports the current step of a command and its duration. */
export type ProgressReporter = {
  /** Runs one step, shows its title, and then shows how long it took. */
  readonly step: <T>(title: string, run: () => Promise<T>) => Promise<T>;
  readonly say: (sentence: string) => void;
};

/** A reporter for tests and programs that shows nothing. */
export const silentProgress: ProgressReporter = { step: async (_title, run) => run(), say: () => {} };

const everyMs = 1_000;
const plainEverySeconds = 15;

/**
 * Writes progress to a terminal or a log. A long step shows its elapsed seconds: each second on a terminal, now and
 * then in a log.
 */
export function progressOn(stream: NodeJS.WriteStream): ProgressReporter {
  const seconds = (begin: number): string => ((performance.now() - begin) / 1_000).toFixed(1);
  return {
    say: (sentence) => void stream.write(`${sentence}\n`),
    step: async (title, run) => {
      const begin = performance.now();
      if (stream.isTTY) stream.write(`  ${title} ...`);
      let ticks = 0;
      const clock = setInterval(() => {
        ticks += 1;
        if (stream.isTTY) stream.write(`\r  ${title} ... ${ticks} s`);
        else if (ticks % plainEverySeconds === 0) stream.write(`  ${title} ... ${ticks} s\n`);
      }, everyMs);
      const end = stream.isTTY ? `\r\u001b[K  ${title}` : `  ${title}`;
      try {
        const result = await run();
        stream.write(`${end}: ${seconds(begin)} s\n`);
        return result;
      } catch (error) {
        stream.write(`${end}: failed after ${seconds(begin)} s\n`);
        throw error;
      } finally {
        clearInterval(clock);
      }
    },
  };
}
