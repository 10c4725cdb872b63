import { missingPostgres } from '#sql/testing/test-server';

/** The title of a suite that needs PostgreSQL; if it is missing the title contains the reason. */
export function onDatabase(title: string): string {
  return missingPostgres === undefined ? title : `${title} (${missingPostgres})`;
}
