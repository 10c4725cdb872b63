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
type Start = (spec: ChildSpec, pin: (line: ReadyLine) => Record<string, string>) => Promise<ReadyLine>;

type ManagementOptions = {
  readonly data: DataDirectory;
  /** Administrators of the management API, each as issuer|subject. */
  readonly administrators: readonly string[];
  readonly issuerPort: number;
  readonly ports: LastingPorts;
};

/** The addresses of policy management; `off` is the reason when it does not run. */
export type ManagementStart = {
  readonly issuer?: ReadyLine;
  readonly management?: ReadyLine;
  readonly off?: string;
};

/**
 * Starts the database at once, and the development issuer and the management API as soon as the operator serves.
 * Guarded models do not need them: if one cannot start, the rest of the platform runs without policy management.
 */
export async function startManagement(
  start: Start,
  { data, administrators, issuerPort, ports }: ManagementOptions,
  operator: Promise<ReadyLine>,
): Promise<ManagementStart> {
  const database = startDatabase(start, data, ports);
  database.catch(() => undefined);
  const api = apiOf(await operator);
  const issuer = start(issuerProcess(data, issuerPort), pinListening);
  issuer.catch(() => undefined);
  try {
    const [at] = await Promise.all([database, issuer]);
    const management = await start(managementProcess(data, { api, database: at, administrators, ports }), pinAddresses);
    return { issuer: await issuer, management };
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    const line = await issuer.catch(() => undefined);
    return { off: error.message, ...(line === undefined ? {} : { issuer: line }) };
  }
}

/** The embedded PostgreSQL, or the one that PORTCULLIS_DATABASE_URL names with its password file. */
async function startDatabase(start: Start, data: DataDirectory, ports: LastingPorts): Promise<DatabaseAt> {
  const external = process.env['PORTCULLIS_DATABASE_URL'] ?? '';
  if (external !== '') return 'external';
  const { listening } = await start(postgresProcess(data, ports), pinListening);
  return { url: listening };
}
