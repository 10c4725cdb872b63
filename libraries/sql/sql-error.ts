/**
 * Nobody knows whether the statement took effect: the database is away, too slow, full, shutting down or refuses this
 * client. A write may or may not have happened; a caller fails closed.
 */
export class SqlUnavailableError extends Error {
  readonly code = 'sql_unavailable';
  /** What the driver or the server called it: ECONNREFUSED, CONNECT_TIMEOUT, 57P03 and the like. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`the database does not answer (${reason})`, { cause });
    this.name = 'SqlUnavailableError';
    this.reason = reason;
  }
}

/** The database refused a statement. It says nothing of the values, which its own message may quote. */
export class SqlStatementError extends Error {
  readonly code = 'sql_refused';
  /** SQLSTATE (PostgreSQL documentation, appendix A), five characters: 23505 is a key that exists. */
  readonly sqlState: string;
  /** Name of the constraint that was broken; undefined where there is none. */
  readonly constraint: string | undefined;

  constructor(sqlState: string, constraint: string | undefined) {
    super(`the database refused a statement (${[sqlState, constraint].filter(Boolean).join(', ')})`);
    this.name = 'SqlStatementError';
    this.sqlState = sqlState;
    this.constraint = constraint;
  }
}

/**
 * SQLSTATE that say that the server cannot work now: class 08 connection, 28 credentials, 53 resources, 57 its operator,
 * 58 its system, 25006 a standby, 25P03 and 25P04 a transaction that it ended for its length, 3D000 no such database.
 */
const unavailableStates = /^(?:08|28|53|57|58)...$|^25006$|^25P0[34]$|^3D000$/;

/** What a failure of the driver is to a caller; other errors pass as they are. */
export function sqlErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof SqlUnavailableError || error instanceof SqlStatementError) {
    return error;
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (error.name === 'PostgresError' && code !== undefined && /^[0-9A-Z]{5}$/.test(code)) {
    if (unavailableStates.test(code)) return new SqlUnavailableError(code);
    const constraint = 'constraint_name' in error ? error.constraint_name : undefined;
    return new SqlStatementError(code, typeof constraint === 'string' ? constraint : undefined);
  }
  if (code !== undefined && isConnectionCode(code)) return new SqlUnavailableError(code);
  return error;
}

/** Codes of the driver for lost connections, and those of the system for sockets; faults of a program have others. */
function isConnectionCode(code: string): boolean {
  return (
    /^CONNECT(?:ION)?_/.test(code) ||
    /^E(?!RR_)[A-Z0-9_]+$/.test(code) ||
    /^(?:ERR_TLS|CERT|DEPTH_|SELF_|UNABLE_)/.test(code)
  );
}
