import type { Database } from '../connect.ts';

/** A database whose transactions fail at their first conflict, for tests that two of them never deadlock. */
export function failingAtConflicts(database: Database): Database {
  const sql = new Proxy(database.sql, {
    get: (target, name) => (name === 'begin' ? target.beginOnce : Reflect.get(target, name)),
  });
  return { ...database, sql };
}
