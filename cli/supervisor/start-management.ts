import type { DataDirectory } from '#contracts/data-directory';
import type { ReadyLine } from '#kit/process/ready';
import type { LastingPorts } from './lasting-ports.ts';
import {
  apiOf,
  type ChildSpec,
  type DatabaseAt,
  issuerProcess,
  managementProcess,
  pinAddresses,
  pinListening,
  postgresProcess,
} from './platform-processes.ts';
import { StartFailure } from './supervise.ts';

/** Starts a process and keeps it running; settles when it first serves. */
export type StartChild = (spec: ChildSpec, pin: (line: ReadyLine) => Record<string, string>) => Promise<ReadyLine>;

type ManagementOptions = {
  readonly data: DataDirectory;
  /** Administrators of the management API, each as issuer|subject. */
  readonly administrators: readonly string[];
  readonly issuerPort: number;
  readonly ports: LastingPorts;
  readonly database: Promise<DatabaseAt>;
};

/** The addresses of policy management; `off` is the reason when it does not run. */
export type ManagementStart = {
  readonly issuer?: ReadyLine;
  readonly management?: ReadyLine;
  readonly off?: string;
};

/**
 * Starts the development issuer and the management API as soon as the operator serves and the database is available.
 * Guarded models do not need these processes: if one cannot start, the rest of the platform runs without policy
 * management.
 * @throws StartFailure if another program uses a port, so that the start can be repeated with another one
 */
export async function startManagement(
  start: StartChild,
  { data, administrators, issuerPort, ports, database }: ManagementOptions,
  operator: Promise<ReadyLine>,
): Promise<ManagementStart> {
  const api = apiOf(await operator);
  const issuer = start(issuerProcess(data, issuerPort), pinListening);
  issuer.catch(() => undefined);
  try {
    const [at] = await Promise.all([database, issuer]);
    const management = await start(managementProcess(data, { api, database: at, administrators, ports }), pinAddresses);
    return { issuer: await issuer, management };
  } catch (error) {
    if (!(error instanceof StartFailure) || error.isAddressTaken) throw error;
    const line = await issuer.catch(() => undefined);
    return { off: error.message, ...(line === undefined ? {} : { issuer: line }) };
  }
}

/**
 * The address that the database will have, for processes that start before it and wait for it; the process postgres
 * prints the same address.
 */
export function plannedDatabase(ports: LastingPorts): DatabaseAt {
  if ((process.env['PORTCULLIS_DATABASE_URL'] ?? '') !== '') return 'external';
  return { url: `postgres://portcullis@127.0.0.1:${ports.of('postgres')}/portcullis` };
}

/** The embedded PostgreSQL, or the server that PORTCULLIS_DATABASE_URL names with its password file. */
export async function startDatabase(start: StartChild, data: DataDirectory, ports: LastingPorts): Promise<DatabaseAt> {
  const planned = plannedDatabase(ports);
  if (planned === 'external') return planned;
  const { listening } = await start(postgresProcess(data, ports), pinListening);
  return { url: listening };
}
