/** One step of an installation: what a person does, with which command, and how long it took. */
type Row = { readonly what: string; readonly command: string; readonly seconds: number };

/** What takes how long, in the order in which it was done. */
export type Timetable = {
  /** Runs a step and notes its time. @param command as a person would give it */
  timed<T>(what: string, command: string, run: () => Promise<T>): Promise<T>;
  /** Seconds of several steps together; undefined unless each was done. */
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
