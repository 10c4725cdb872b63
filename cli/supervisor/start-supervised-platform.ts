import { rmSync } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import type { ReadyLine } from '#kit/process/ready';
import { CliError } from '../errors/cli-error.ts';
import { firstAdministrators } from '../platform/administrators.ts';
import type { PlatformStatus } from '../platform/status-file.ts';
import { createProvidersFile, echoPort } from './approved-providers.ts';
import { waitForPort } from './free-port.ts';
import { createIssuersFile, issuerPort } from './issuers-file.ts';
import { chooseLastingPorts } from './lasting-ports.ts';
import {
  adminOf,
  apiOf,
  type ConsoleMode,
  echoProcess,
  firstGateway,
  gatewayProcess,
  lastingPortNames,
  needsDatabase,
  operatorProcess,
  originOfGateway,
  type ProcessKind,
  pinGateway,
  pinOperator,
} from './platform-processes.ts';
import { retryWithOtherPorts } from './retry-with-other-ports.ts';
import { type ConsoleStart, startConsole } from './start-console.ts';
import { type DataServices, type DataServicesStart, startDataServices } from './start-data-services.ts';
import { type ManagementStart, plannedDatabase, startDatabase, startManagement } from './start-management.ts';
import { type Supervised, supervise } from './supervise.ts';

/** Each of the data services requires a database. */
type PlatformOptions = DataServices & {
  readonly data: DataDirectory;
  /**
   * Port of the first gateway; the other gateways use the following ports. With 0 the ports of the last start are used.
   */
  readonly port: number;
  /** IP address that the gateways listen on for clients of models. */
  readonly address: string;
  readonly gateways: number;
  /** Whether policies can also be managed over HTTP, which requires a database. */
  readonly management: boolean;
  /** When the console starts, which requires policy management. */
  readonly console: ConsoleMode;
  /** Settings of the receivers of the audit log, for the services that write it. */
  readonly audit: Readonly<Record<string, string>>;
  readonly say: (sentence: string) => void;
  /** A process that does not answer its health endpoint for this long is killed and restarted. */
  readonly hungAfterMs: number;
  /** A signal that is aborted when the start of the platform is cancelled. */
  readonly signal: AbortSignal;
};

export type SupervisedPlatform = {
  status(): PlatformStatus;
  /** Address of each gateway's health endpoints. */
  admins(): readonly string[];
  /** Marks the platform as ready: its bindings are applied. The platform stays ready while all processes serve. */
  settled(): void;
  /**
   * Shuts down the processes in order: first gateways, the management API, retrieval, memory and catalogue, which
   * drain; then the operator with its workloads; then the services that they called: the echo provider, the issuer and
   * the database.
   */
  stop(): Promise<void>;
};

/** The port of a leftover process, or of a program that is exiting, becomes free within seconds. */
const portPatienceMs = 6_000;
/** A gateway waits for the end of streams; its own timeout is shorter than this timeout. */
const gatewayGraceMs = 35_000;
const graceMs = 20_000;
/**
 * PostgreSQL writes its memory to disk; if this takes longer than 20 s, it is stopped and recovers at the next start.
 */
const databaseGraceMs = 25_000;
/** The services that write the audit log. */
const writesAudit: ReadonlySet<ProcessKind> = new Set(['management', 'retrieval', 'memory']);
/** Pause before a status that could not be written is written again. */
const statusAgainMs = 2_000;

/**
 * Starts all processes and keeps them running. @throws StartFailure when one of them cannot start, CliError busy when a
 * port is in use, the reason of the signal; after such an error no process is left running
 */
export async function startSupervisedPlatform(options: PlatformOptions): Promise<SupervisedPlatform> {
  const { data } = options;
  await createProvidersFile(data);
  await createIssuersFile(data, [echoPort(data) ?? 0, ...portsForClients(options)]);
  return retryWithOtherPorts(() => startOnce(options), options.say);
}

async function startOnce(options: PlatformOptions): Promise<SupervisedPlatform> {
  const { data, say } = options;
  const at = { echo: echoPort(data), issuer: options.management ? issuerPort(data) : 0 };
  await refusePortsInUse(options, at);
  const reserved = [at.echo ?? 0, at.issuer, ...portsForClients(options)];
  const ports = await chooseLastingPorts(data, lastingPortNames(options), reserved, say);
  const administrators = firstAdministrators();
  const group = createGroup(options);
  try {
    const echo = at.echo === undefined ? undefined : group.start(echoProcess(at.echo), () => ({}));
    const first = { address: options.address, port: options.port === 0 ? ports.of(firstGateway) : options.port };
    const origin = originOfGateway(first.address, first.port);
    const agents = options.agents ? { database: plannedDatabase(ports) } : undefined;
    const operating = group.start(operatorProcess(data, { ...options, ports, gateway: origin, agents }), pinOperator);
    const database = needsDatabase(options)
      ? startDatabase(group.start, data, ports)
      : Promise.reject(new TypeError('no process of this platform needs a database'));
    database.catch(() => undefined);
    const managing = options.management
      ? startManagement(group.start, { data, administrators, issuerPort: at.issuer, ports, database }, operating)
      : Promise.resolve({ off: 'the platform was started with --no-management.' });
    managing.catch(() => undefined);
    const operator = await unlessAborted(operating, options.signal);
    const numbers = Array.from({ length: options.gateways }, (_, at) => at + 1);
    const starting = numbers.map((number) => {
      const port = options.port === 0 ? ports.of(`gateway-${number}`) : options.port + number - 1;
      const { address } = options;
      return group.start(
        gatewayProcess(data, { number, address, port, api: apiOf(operator), ports, agents }),
        pinGateway(address),
      );
    });
    const gateways = await unlessAborted(Promise.all(starting), options.signal);
    await unlessAborted(Promise.resolve(echo), options.signal);
    const management = await unlessAborted(managing, options.signal);
    if (options.management && management.off !== undefined) say(offSentence(management.off));
    const gateway = gateways[0]?.listening ?? '';
    const services = await unlessAborted(
      startDataServices(
        group.start,
        { data, ports, database, gateway, api: apiOf(operator), signal: options.signal },
        options,
      ),
      options.signal,
    );
    if (services.retrievalOff !== undefined) say(`retrieval is off until the next start: ${services.retrievalOff}`);
    if (services.memoryOff !== undefined) say(`memory is off until the next start: ${services.memoryOff}`);
    if (services.catalogueOff !== undefined) say(`the catalogue is off until the next start: ${services.catalogueOff}`);
    const { console: mode } = options;
    const console =
      mode === 'never'
        ? {}
        : await unlessAborted(
            startConsole(group.start, data, mode, {
              ports,
              say,
              signal: options.signal,
              administrators,
              gateway,
              management: management.management?.listening,
              retrieval: services.retrieval?.listening,
              memory: services.memory?.listening,
              catalogue: services.catalogue?.listening,
            }),
            options.signal,
          );
    if (console.consoleOff !== undefined && (options.management || mode === 'at start'))
      say(`the console is off until the next start: ${console.consoleOff}`);
    group.serveAt({ operator, gateways, administrators, ...management, ...services, ...console });
    return group;
  } catch (error) {
    await group.stop();
    throw error;
  }
}

function offSentence(reason: string): string {
  return `policy management is off until the next start, guarded models are served without it: ${reason}`;
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

type FixedPorts = { readonly echo: number | undefined; readonly issuer: number };

/** Ports of the gateways that the user chose. */
function portsForClients({ port, gateways }: PlatformOptions): readonly number[] {
  return port === 0 ? [] : Array.from({ length: gateways }, (_, at) => port + at);
}

async function refusePortsInUse(options: PlatformOptions, at: FixedPorts): Promise<void> {
  for (const port of portsForClients(options)) {
    if (await waitForPort(port, portPatienceMs, options.address)) continue;
    const option = process.env['npm_lifecycle_event'] === 'start' ? 'npm start -- --port 8090' : '--port';
    throw new CliError('busy', `Port ${port} is used by another program: choose another one with ${option}.`);
  }
  const { providers, issuers } = options.data;
  const named = [
    { port: at.echo ?? 0, what: 'the provider echo', file: providers },
    { port: at.issuer, what: 'the development issuer', file: issuers },
  ];
  for (const { port, what, file } of named) {
    if (port === 0 || (await waitForPort(port, portPatienceMs))) continue;
    throw new CliError('busy', `Port ${port} of ${what} is used by another program: change it in ${file}.`);
  }
}

type Lines = ManagementStart &
  DataServicesStart &
  ConsoleStart & {
    readonly operator: ReadyLine;
    readonly gateways: readonly ReadyLine[];
    readonly administrators: readonly string[];
  };

function createGroup({
  data,
  say,
  hungAfterMs,
  agents,
  audit,
}: Pick<PlatformOptions, 'data' | 'say' | 'hungAfterMs' | 'agents' | 'audit'>) {
  const members: Supervised[] = [];
  /** The processes that have served: the console starts in a platform that is ready. */
  const served = new Set<Supervised>();
  let lines: Lines | undefined;
  let isSettled = false;
  let writing = Promise.resolve();
  let stopped = false;
  let isRefused = false;

  function status(): PlatformStatus {
    const processes = members.map((member) => member.status());
    const gateways = lines?.gateways.map(({ listening }) => listening) ?? [];
    return {
      ready: isSettled && !stopped && members.every((member) => member.status().ready || !served.has(member)),
      addresses: {
        gateway: gateways[0] ?? '',
        gateways,
        gatewayAdmins: lines?.gateways.map(adminOf) ?? [],
        api: lines === undefined ? '' : apiOf(lines.operator),
        operator: lines?.operator.listening ?? '',
        ...(lines?.management === undefined
          ? {}
          : { management: lines.management.listening, managementAdmin: adminOf(lines.management) }),
        ...(lines?.retrieval === undefined ? {} : { retrieval: lines.retrieval.listening }),
        ...(lines?.memory === undefined ? {} : { memory: lines.memory.listening }),
        ...(lines?.catalogue === undefined ? {} : { catalogue: lines.catalogue.listening }),
        ...(lines?.console === undefined ? {} : { console: lines.console.url }),
        ...(agents && lines !== undefined ? { agents: gateways[0] ?? '' } : {}),
        ...(lines?.issuer === undefined ? {} : { issuer: lines.issuer.listening }),
      },
      ...(lines?.retrievalOff === undefined ? {} : { retrievalOff: lines.retrievalOff }),
      ...(lines?.memoryOff === undefined ? {} : { memoryOff: lines.memoryOff }),
      ...(lines?.catalogueOff === undefined ? {} : { catalogueOff: lines.catalogueOff }),
      ...(lines?.consoleOff === undefined ? {} : { consoleOff: lines.consoleOff }),
      ...(lines?.off === undefined ? {} : { managementOff: lines.off }),
      administrators: [...(lines?.administrators ?? [])],
      clientKeyFile: data.clientKeys,
      dataDirectory: data.root,
      pid: process.pid,
      processes,
    };
  }

  /** Writes are made one after another, so that the last write has the newest status. */
  function writeStatus(): void {
    if (lines === undefined) return;
    const write = async (): Promise<void> => {
      await writeAtomic(data.status, Buffer.from(`${JSON.stringify(status(), undefined, 2)}\n`));
      isRefused = false;
    };
    writing = writing.then(write).catch(() => {
      if (!isRefused) say(`${data.status} cannot be written; retrying`);
      isRefused = true;
      if (!stopped) setTimeout(writeStatusAgain, statusAgainMs).unref();
    });
  }

  function writeStatusAgain(): void {
    if (!stopped) writeStatus();
  }

  return {
    status,
    admins: () => lines?.gateways.map(adminOf) ?? [],
    settled(): void {
      isSettled = true;
      writeStatus();
    },
    serveAt(found: Lines): void {
      lines = found;
      writeStatus();
    },
    start(spec: Parameters<typeof supervise>[0], pin: (line: ReadyLine) => Record<string, string>): Promise<ReadyLine> {
      // An interrupted start starts no more processes.
      if (stopped) return Promise.reject(new DOMException('the platform is stopped', 'AbortError'));
      const begun = performance.now();
      const env = writesAudit.has(spec.kind) ? { ...audit, ...spec.env } : spec.env;
      const member = supervise({ ...spec, env }, { data, pin, say, hungAfterMs, onChange: writeStatus });
      members.push(member);
      member.firstReady.then(
        () => {
          served.add(member);
          say(`${spec.name} serves (${((performance.now() - begun) / 1_000).toFixed(1)} s)`);
        },
        () => members.splice(members.indexOf(member), 1),
      );
      return member.firstReady;
    },
    async stop(): Promise<void> {
      stopped = true;
      writeStatus();
      lines?.console?.close();
      const end = async (kind: ProcessKind, ms: number): Promise<void> => {
        const named = members.filter((member) => member.status().kind === kind);
        await Promise.all(named.map((member) => member.stop(ms)));
      };
      await Promise.all([end('console', graceMs), end('signin', graceMs)]);
      await Promise.all([
        ...(['retrieval', 'memory', 'catalogue', 'management'] as const).map((kind) => end(kind, graceMs)),
        end('gateway', gatewayGraceMs),
      ]);
      await end('operator', graceMs);
      await Promise.all([end('echo', graceMs), end('issuer', graceMs), end('postgres', databaseGraceMs)]);
      await writing;
      rmSync(data.status, { force: true });
    },
  };
}
