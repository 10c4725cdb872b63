import type { Socket } from 'node:net';
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts';

/** The traffic of the proxy. Parsing of statements is not counted: each connection does it once. */
type Exchanged = {
  /** Number of ended statements, including failed ones. */
  readonly statements: number;
  readonly rows: number;
  readonly rowBytes: number;
  /** Bytes of the parameters of statements. */
  readonly parameterBytes: number;
};

/** A proxy between clients and a PostgreSQL server that counts statements and rows in both directions. */
type CountingProxy = PostgresProxy & {
  /** The traffic since the last call. */
  take(): Exchanged;
};

const none: Exchanged = { statements: 0, rows: 0, rowBytes: 0, parameterBytes: 0 };

/** @param databaseUrl without TLS, so that messages can be read */
export async function startCountingProxy(databaseUrl: string): Promise<CountingProxy> {
  let counts = none;
  const add = (more: Partial<Exchanged>): void => {
    const sum = (name: keyof Exchanged): number => counts[name] + (more[name] ?? 0);
    counts = {
      statements: sum('statements'),
      rows: sum('rows'),
      rowBytes: sum('rowBytes'),
      parameterBytes: sum('parameterBytes'),
    };
  };
  const proxy = await startPostgresProxy(databaseUrl, ({ client, database }) => {
    // The first message of a client has no type.
    readMessages(client, 'untyped first', (type, body) => {
      if (type === 'B') add({ parameterBytes: parametersOf(body) });
    });
    readMessages(database, 'typed', (type, body) => {
      if (type === 'C' || type === 'E') add({ statements: 1 });
      if (type === 'D') add({ rows: 1, rowBytes: body.length });
    });
    client.pipe(database);
    database.pipe(client);
  });
  return {
    ...proxy,
    take() {
      const taken = counts;
      counts = none;
      return taken;
    },
  };
}

/** Calls `receive` for each message of a connection: one byte of type, four of length, and the body. */
function readMessages(
  socket: Socket,
  start: 'typed' | 'untyped first',
  receive: (type: string, body: Buffer) => void,
): void {
  let held = Buffer.alloc(0);
  let typeBytes = start === 'typed' ? 1 : 0;
  socket.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= typeBytes + 4) {
      const end = typeBytes + held.readUInt32BE(typeBytes);
      if (held.length < end) return;
      receive(held.toString('latin1', 0, typeBytes), held.subarray(typeBytes + 4, end));
      held = held.subarray(end);
      typeBytes = 1;
    }
  });
}

/** Bytes of a Bind message after the names of its portal and statement, each of which ends with a zero byte. */
function parametersOf(bind: Buffer): number {
  const portalEnd = bind.indexOf(0) + 1;
  return bind.length - (bind.indexOf(0, portalEnd) + 1);
}
