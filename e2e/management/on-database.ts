import { missingPostgres } from '#sql/testing/test-server';

/** The title of a suite that needs PostgreSQL; where there is none the reason is part of it, and is counted. */
export function onDatabase(title: string): string {
  return missingPostgres === undefined ? title : `${title} (${missingPostgres})`;
}
