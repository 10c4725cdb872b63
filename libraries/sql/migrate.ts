import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Database, TransactionSql } from './connect.ts';
import { SqlStatementError } from './sql-error.ts';

export type MigrationFault = 'bad_name' | 'gap' | 'changed' | 'newer' | 'failed';

/** The schema of the database does not match the migrations of this program. The message names the file and the remedy. */
export class MigrationError extends Error {
  readonly code: MigrationFault;

  constructor(code: MigrationFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'MigrationError';
    this.code = code;
  }
}

type MigrateOptions = {
  /** The schema of all tables: lower-case letters and underscores. */
  readonly schema: string;
  /** Folder of files `0001-<name>.sql`, numbered without gaps; table names have no schema. */
  readonly folder: URL;
};

type Migration = { readonly number: number; readonly name: string; readonly text: string; readonly digest: string };
type Applied = { readonly number: number; readonly name: string; readonly digest: string };

/**
 * Migrating a large table takes a long time, and replicas that start at the same time wait for the replica that
 * migrates.
 */
const statementTimeoutMs = 600_000;

/**
 * Applies the missing migrations of a schema. Each file is one transaction under an advisory lock, so that any number of
 * replicas may start at once and each file is applied exactly once.
 * @returns the names of the files that this call applied, in order
 * @throws MigrationError
 * @throws SqlUnavailableError
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<readonly string[]> {
  const { schema } = options;
  if (!/^[a-z][a-z_]{0,62}$/.test(schema))
    throw new MigrationError('bad_name', `the schema '${schema}' has a bad name`);
  const known = readMigrations(options.folder);
  await using alone = database.alone({ statementTimeoutMs });
  const done: string[] = [];
  for (;;) {
    // A conflict with writes of an earlier release is a defect of the migration, which a repetition would hide from its test.
    const name = await alone.sql.beginOnce((sql) => applyNext(sql, schema, known));
    if (name === undefined) return done;
    done.push(name);
  }
}

/** Applies the first missing file in one transaction and returns its name. */
async function applyNext(
  sql: TransactionSql,
  schema: string,
  known: readonly Migration[],
): Promise<string | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`portcullis.migrate.${schema}`}, 0))`;
  await prepare(sql, schema);
  await sql`select set_config('search_path', ${schema}, true)`;
  const applied = await sql<Applied[]>`select number, name, digest from migrations order by number`;
  const next = decideNext(applied, known, schema);
  if (next === undefined) return undefined;
  try {
    await sql.unsafe(next.text).simple();
  } catch (cause) {
    if (!(cause instanceof SqlStatementError)) throw cause;
    const sentence = `${next.name} failed on schema ${schema} (${cause.sqlState}) and was rolled back`;
    throw new MigrationError('failed', sentence, cause);
  }
  await sql`select set_config('search_path', ${schema}, true)`;
  await sql`insert into migrations (number, name, digest) values (${next.number}, ${next.name}, ${next.digest})`;
  return next.name;
}

/** Runs under the lock: `if not exists` alone fails when two sessions create at the same time. */
async function prepare(sql: TransactionSql, schema: string): Promise<void> {
  const [found] = await sql`select to_regclass(${`${schema}.migrations`}) is not null as there`;
  if (found?.['there'] === true) return;
  await sql`create schema if not exists ${sql(schema)}`;
  await sql`create table if not exists ${sql(schema)}.migrations (
    number integer primary key,
    name text not null,
    digest text not null,
    applied_at timestamptz not null default now()
  )`;
}

/** The next file to apply; undefined if all are applied. */
function decideNext(applied: readonly Applied[], known: readonly Migration[], schema: string): Migration | undefined {
  for (const [at, { number, name, digest }] of applied.entries()) {
    const own = known[at];
    if (own === undefined || number !== own.number) {
      const sentence = `schema ${schema} holds ${name}, which this program does not know: start the newer program`;
      throw new MigrationError('newer', sentence);
    }
    if (digest !== own.digest) {
      const sentence = `${own.name} was applied to schema ${schema} with other content: undo the change of the file and add a new one`;
      throw new MigrationError('changed', sentence);
    }
  }
  return known[applied.length];
}

function readMigrations(folder: URL): readonly Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name, at) => {
    const number = Number(/^(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.sql$/.exec(name)?.[1]);
    if (Number.isNaN(number)) throw new MigrationError('bad_name', `${name} must be named 0001-<name>.sql`);
    if (number !== at + 1) throw new MigrationError('gap', `${name} has the wrong number: ${at + 1} is the next one`);
    const text = readFileSync(new URL(name, withSlash(folder)), 'utf8');
    return { number, name, text, digest: createHash('sha256').update(text).digest('hex') };
  });
}

function withSlash(folder: URL): URL {
  return new URL(folder.href.endsWith('/') ? folder.href : `${folder.href}/`);
}
