import { SqlStatementError, SqlUnavailableError } from '#sql/connect';
import { RecordsUnavailableError } from './ports.ts';

/** A refused statement is reported as an unavailable database: its error may describe data. */
export async function translated<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof SqlUnavailableError) && !(cause instanceof SqlStatementError)) throw cause;
    throw new RecordsUnavailableError('the database of the operations does not answer', { cause });
  }
}
