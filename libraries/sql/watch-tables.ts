import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Sql } from './connect.ts';
import { tablesOf } from './migrated-tables.ts';

/** A schema with the folder of its migrations. */
export type WatchedSchema = {
  readonly schema: string;
  readonly folder: URL;
  /** Returns names of other missing parts, such as triggers and rows; called only when all tables exist. */
  readonly missingParts?: (sql: Sql) => Promise<readonly string[]>;
};

type TableWatch = AsyncDisposable & {
  /**
   * The tables and other parts that were missing when the database last answered, each with its schema; empty if none
   * was missing.
   */
  missing(): readonly string[];
};

/** Interval between two checks, milliseconds. */
const lookMs = 5_000;

/**
 * Notices tables that are lost while the process runs, or that were lost before it started, even if nothing probes the
 * process. If the database does not answer, the state is unchanged: an unknown state must not count as a loss.
 * @param options.onChange called with the missing tables when the list changes
 */
export function watchTables(
  { sql }: Pick<Database, 'sql'>,
  options: {
    readonly schemas: readonly WatchedSchema[];
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
    const tables = rows.map(({ name }) => name);
    const found = tables.length > 0 ? tables : await lostParts();
    if (found.join() === missing.join()) return;
    missing = found;
    onChange(found);
  }

  async function lostParts(): Promise<readonly string[]> {
    const parts = await Promise.all(schemas.map(({ missingParts }) => missingParts?.(sql) ?? []));
    return parts.flat();
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
