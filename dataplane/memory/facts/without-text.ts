import type { Sql, TransactionSql } from '#sql/connect';

/** What every statement sets that ends an event: an ended event holds no text of the client. */
export function withoutText(sql: Sql | TransactionSql) {
  return sql`messages = null, metadata = '{}', categories = '{}'`;
}
