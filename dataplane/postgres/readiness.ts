import { connectSql, SqlUnavailableError } from '#sql/connect';

/** How this process itself reaches the server. */
export type Access = { readonly url: string; readonly password: string };

export type Figures = {
  /** Connections of clients: with a statement under way, without a transaction, and waiting in one. */
  readonly active: number;
  readonly idle: number;
  readonly idleInTransaction: number;
  readonly connectionsMax: number;
  readonly databaseBytes: number;
  readonly oldestTransactionSeconds: number;
};

/** What one look found. There are no figures where there are problems, and where every connection is taken. */
export type Look = { readonly problems: readonly string[]; readonly figures: Figures | undefined };

export type Readiness = {
  /** Asks the server over a connection of its own, which an earlier one that still works says nothing about. */
  look(): Promise<Look>;
  /** The server takes connections. */
  opened(access: Access): void;
  /** No more clients are wanted. */
  withdraw(): void;
};

const statementTimeoutMs = 2_000;

export function createReadiness(): Readiness {
  let access: Access | undefined;
  let isWithdrawn = false;
  let underWay: Promise<Look> | undefined;

  /** Looks that come while one is under way share it: where the server stands still they would pile up. */
  function shared(reach: Access): Promise<Look> {
    underWay ??= lookAt(reach).finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  return {
    async look() {
      if (isWithdrawn) return failed('this process is about to end');
      return access === undefined ? failed('the server is starting') : shared(access);
    },
    opened(reach) {
      access = reach;
    },
    withdraw() {
      isWithdrawn = true;
    },
  };
}

function failed(problem: string): Look {
  return { problems: [problem], figures: undefined };
}

async function lookAt({ url, password }: Access): Promise<Look> {
  try {
    await using database = connectSql({
      url,
      password: () => password,
      applicationName: 'portcullis-postgres',
      max: 1,
      statementTimeoutMs,
    });
    const [figures] = await database.sql<[Figures]>`
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
    // It answers that it has as many clients as it takes; to send them elsewhere would help nobody.
    if (error instanceof SqlUnavailableError && error.reason === '53300') return { problems: [], figures: undefined };
    return failed('the server does not answer');
  }
}
