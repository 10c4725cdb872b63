import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from './connect.ts';
import { tablesOf } from './migrated-tables.ts';

type TableWatch = AsyncDisposable & {
  /** The tables that were absent when the database last answered, each with its schema; empty if all are there. */
  missing(): readonly string[];
};

/** Time between two looks, milliseconds. */
const lookMs = 5_000;

/**
 * Notices tables that are lost while the process runs, or that were lost before it started, even if nothing probes the
 * process. A database that does not answer is no change: an unknown state must not count as a lost one.
 * @param options.onChange called with the missing tables when the list changes
 */
export function watchTables(
  { sql }: Pick<Database, 'sql'>,
  options: {
    readonly schemas: readonly { readonly schema: string; readonly folder: URL }[];
    readonly onChange: (missing: readonly string[]) => void;
    readonly everyMs?: number;
  },
): TableWatch {
  const { schemas, onChange, everyMs = lookMs } = options;
  const expected = schemas.flatMap(({ schema, folder }) => tablesOf(folder).map((table) => `${schema}.${table}`));
  const stop = new AbortController();
  let missing: readonly string[] = [];

  async function look(): Promise<void> {
    const rows = await sql<{ name: string }[]>`
      select name from unnest(${sql.array(expected)}::text[]) as given (name)
      where to_regclass(name) is null order by name`;
    const found = rows.map(({ name }) => name);
    if (found.join() === missing.join()) return;
    missing = found;
    onChange(found);
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      await look().catch(() => undefined);
      await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    missing: () => missing,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
