import type { Sql, TransactionSql } from '#sql/connect';

/** The columns that each statement clears when it ends an event, because an ended event holds no text of the client. */
export function withoutText(sql: Sql | TransactionSql) {
  return sql`messages = null, metadata = '{}', categories = '{}'`;
}
