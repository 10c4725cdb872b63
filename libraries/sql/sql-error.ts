/** Reasons of the driver and the server that mean that an answer did not come in time. */
const timeouts: ReadonlySet<string> = new Set([
  '57014',
  'CONNECT_TIMEOUT',
  'ETIMEDOUT',
  'ANSWER_TIMEOUT',
  'POOL_TIMEOUT',
]);

/**
 * The outcome of a statement is unknown: the database is unreachable, too slow, full, shutting down, or refuses this
 * client. A write may or may not have taken effect, except after an SqlConflictError; callers fail closed.
 */
export class SqlUnavailableError extends Error {
  readonly code = 'sql_unavailable';
  /** The code of the driver or the server, such as ECONNREFUSED, CONNECT_TIMEOUT or 57P03. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`the database does not answer (${reason})`, { cause });
    this.name = 'SqlUnavailableError';
    this.reason = reason;
  }

  /** Whether the answer did not come in time. */
  get isLate(): boolean {
    return timeouts.has(this.reason);
  }
}

/**
 * The database rolled a transaction back because of a concurrent one: a deadlock (40P01) or a serialization failure
 * (40001). The transaction had no effect, and the connection can be used. The same transaction may be repeated.
 */
export class SqlConflictError extends SqlUnavailableError {
  constructor(reason: string, cause?: unknown) {
    super(reason, cause);
    this.name = 'SqlConflictError';
    this.message = `the database rolled a transaction back because of a concurrent one (${reason})`;
  }
}

/** Whether the connection of a failed statement must not be used again. */
export function endsConnection(error: unknown): boolean {
  return error instanceof SqlUnavailableError && !(error instanceof SqlConflictError);
}

/** The database refused a statement. The error contains no message of the server, which may quote values. */
export class SqlStatementError extends Error {
  readonly code = 'sql_refused';
  /** SQLSTATE (PostgreSQL documentation, appendix A), five characters, such as 23505 for a duplicate key. */
  readonly sqlState: string;
  /** Name of the violated constraint, if any. */
  readonly constraint: string | undefined;

  constructor(sqlState: string, constraint: string | undefined) {
    super(`the database refused a statement (${[sqlState, constraint].filter(Boolean).join(', ')})`);
    this.name = 'SqlStatementError';
    this.sqlState = sqlState;
    this.constraint = constraint;
  }

  /**
   * Whether the values of the statement cannot be stored: class 22, data exception, and class 54, a limit of the
   * server.
   */
  get isOfData(): boolean {
    return /^(?:22|54)/.test(this.sqlState);
  }
}

/**
 * SQLSTATE of a server that cannot serve now: class 08 connection, 28 credentials, 53 resources, 57 operator
 * intervention, 58 system error, 25006 a standby, 25P03 and 25P04 a transaction that exceeded a timeout, 3D000 no such
 * database, 55000 a database that accepts no connections, as during a restore, 3F000 and 42P01 a lost schema or table.
 */
const unavailableStates = /^(?:08|28|53|57|58)...$|^25006$|^25P0[34]$|^3D000$|^3F000$|^42P01$|^55000$/;

/** SQLSTATE of a transaction that failed because of concurrent ones: serialization_failure and deadlock_detected. */
const conflictStates: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Translates an error of the driver; other errors are returned unchanged. */
export function sqlErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof SqlUnavailableError || error instanceof SqlStatementError) {
    return error;
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (error.name === 'PostgresError' && code !== undefined && /^[0-9A-Z]{5}$/.test(code)) {
    if (conflictStates.has(code)) return new SqlConflictError(code);
    if (unavailableStates.test(code)) return new SqlUnavailableError(code);
    const constraint = 'constraint_name' in error ? error.constraint_name : undefined;
    return new SqlStatementError(code, typeof constraint === 'string' ? constraint : undefined);
  }
  if (code !== undefined && isConnectionCode(code)) return new SqlUnavailableError(code);
  return error;
}

/** Codes of the driver for lost connections and of the system for sockets; defects of the program have other codes. */
function isConnectionCode(code: string): boolean {
  return (
    /^CONNECT(?:ION)?_/.test(code) ||
    /^E(?!RR_)[A-Z0-9_]+$/.test(code) ||
    /^(?:ERR_TLS|CERT|DEPTH_|SELF_|UNABLE_)/.test(code)
  );
}
