import { connectSql, SqlUnavailableError } from '#sql/connect';

/** How this process connects to the server. */
export type ServerAccess = { readonly url: string; readonly password: string };

type ServerFigures = {
  /** Connections of clients: running a statement, idle, and idle in a transaction. */
  readonly active: number;
  readonly idle: number;
  readonly idleInTransaction: number;
  readonly connectionsMax: number;
  readonly databaseBytes: number;
  readonly oldestTransactionSeconds: number;
};

/** The result of one probe. Without figures if there are problems, or if no connection is free. */
export type ServerProbe = { readonly problems: readonly string[]; readonly figures: ServerFigures | undefined };

export type DatabaseReadiness = {
  /** Queries the server over a new connection: an open one does not show whether the server accepts more. */
  probe(): Promise<ServerProbe>;
  /** Sets how to reach the server, once it accepts connections. */
  opened(access: ServerAccess): void;
  /** Makes the process unready: it shuts down. */
  withdraw(): void;
};

const statementTimeoutMs = 2_000;

export function createDatabaseReadiness(): DatabaseReadiness {
  let access: ServerAccess | undefined;
  let isWithdrawn = false;
  let inFlight: Promise<ServerProbe> | undefined;

  /** Concurrent probes share one connection, so that they do not accumulate while the server is stopped. */
  function shared(server: ServerAccess): Promise<ServerProbe> {
    inFlight ??= probeServer(server).finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  }

  return {
    async probe() {
      if (isWithdrawn) return failed('this process is shutting down');
      return access === undefined ? failed('the server is starting') : shared(access);
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
    // 53300, too many connections: the server works, and there is no other one to send clients to.
    if (error instanceof SqlUnavailableError && error.reason === '53300') return { problems: [], figures: undefined };
    return failed('the server does not answer');
  }
}
