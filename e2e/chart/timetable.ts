/** One step of an installation: its description, command and duration. */
type Row = { readonly what: string; readonly command: string; readonly seconds: number };

/** Durations of the steps, in the order of execution. */
export type Timetable = {
  /** Runs a step and records its duration. @param command as a user would type it */
  timed<T>(what: string, command: string, run: () => Promise<T>): Promise<T>;
  /** Total seconds of several steps; undefined unless all have run. */
  sum(...whats: readonly string[]): number | undefined;
  /** The steps as lines of text. */
  lines(): readonly string[];
};

export function createTimetable(): Timetable {
  const rows: Row[] = [];
  return {
    async timed(what, command, run) {
      const begun = performance.now();
      const result = await run();
      const seconds = (performance.now() - begun) / 1_000;
      rows.push({ what, command, seconds });
      console.log(`${what}: ${seconds.toFixed(1)} s`);
      return result;
    },
    sum(...whats) {
      const found = rows.filter(({ what }) => whats.includes(what));
      return found.length < whats.length ? undefined : found.reduce((total, { seconds }) => total + seconds, 0);
    },
    lines() {
      const width = Math.max(0, ...rows.map(({ what }) => what.length));
      return rows.map(
        ({ what, command, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${what.padEnd(width)}  ${command}`,
      );
    },
  };
}
