import { connectSql, SqlUnavailableError } from '#sql/connect';

/** Address and credentials with which this process connects to PostgreSQL. */
export type ServerAccess = { readonly url: string; readonly password: string };

type ServerFigures = {
  /** Counts of client connections: running a statement, idle, and idle in a transaction. */
  readonly active: number;
  readonly idle: number;
  readonly idleInTransaction: number;
  readonly connectionsMax: number;
  readonly databaseBytes: number;
  readonly oldestTransactionSeconds: number;
};

/** The result of one probe. It has no figures if the server has problems or no connection is free. */
export type ServerProbe = { readonly problems: readonly string[]; readonly figures: ServerFigures | undefined };

type DatabaseReadiness = {
  /** Queries PostgreSQL over a new connection: an open connection does not show whether the server accepts more. */
  probe(): Promise<ServerProbe>;
  /** Sets the address and credentials of the server, once the server accepts connections. */
  opened(access: ServerAccess): void;
  /** Makes the process report unready, because it shuts down. */
  withdraw(): void;
};

const statementTimeoutMs = 2_000;

export function createDatabaseReadiness(): DatabaseReadiness {
  let access: ServerAccess | undefined;
  let isWithdrawn = false;
  let inFlight: Promise<ServerProbe> | undefined;

  /** Concurrent probes share one connection, so that connections do not accumulate while the server is stopped. */
  function shared(server: ServerAccess): Promise<ServerProbe> {
    inFlight ??= probeServer(server).finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  }

  return {
    async probe() {
      if (isWithdrawn) return failed('the PostgreSQL process is shutting down');
      return access === undefined ? failed('PostgreSQL is starting') : shared(access);
    },
    opened(server) {
      access = server;
    },
    withdraw() {
      isWithdrawn = true;
    },
  };
}

function failed(problem: string): ServerProbe {
  return { problems: [problem], figures: undefined };
}

async function probeServer({ url, password }: ServerAccess): Promise<ServerProbe> {
  try {
    await using database = connectSql({
      url,
      password: () => password,
      applicationName: 'portcullis-postgres',
      max: 1,
      statementTimeoutMs,
    });
    const [figures] = await database.sql<[ServerFigures]>`
      select
        count(*) filter (where state not like 'idle%')::int as "active",
        count(*) filter (where state = 'idle')::int as "idle",
        count(*) filter (where state like 'idle in transaction%')::int as "idleInTransaction",
        current_setting('max_connections')::int as "connectionsMax",
        pg_database_size(current_database())::float8 as "databaseBytes",
        coalesce(greatest(0, extract(epoch from clock_timestamp() - min(xact_start))), 0)::float8
          as "oldestTransactionSeconds"
      from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`;
    return { problems: [], figures };
  } catch (error) {
    // Error 53300, too many connections: the server works, and clients cannot use another server.
    if (error instanceof SqlUnavailableError && error.reason === '53300') return { problems: [], figures: undefined };
    return failed('PostgreSQL does not answer');
  }
}
