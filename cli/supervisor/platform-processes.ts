import type { DataDirectory } from '#contracts/data-directory';
import type { ReadyLine } from '#kit/process/ready';
import { defaultTenant } from '../http/caller-options.ts';
import { agentIssuer, developmentIssuer, fileIssuer } from '../platform/development-issuer.ts';
import type { ProcessStatus } from '../platform/status-file.ts';
import type { LastingPorts } from './lasting-ports.ts';

/** The embedding profile of the models file that the first start writes. */
export const offlineProfile = 'offline';

export type ProcessKind = ProcessStatus['kind'];

export type ChildSpec = {
  readonly name: string;
  readonly kind: ProcessKind;
  readonly env: Readonly<Record<string, string>>;
  /** Address of the liveness endpoint: it answers unless the process hangs. */
  readonly health: (line: ReadyLine) => string;
};

/** The entry points of the platform, relative to the checkout. */
export const entries: Readonly<Record<ProcessKind, string>> = {
  operator: 'operator/main.ts',
  gateway: 'dataplane/gateway/main.ts',
  echo: 'dataplane/echo/main.ts',
  postgres: 'dataplane/postgres/main.ts',
  issuer: 'dataplane/issuer/main.ts',
  management: 'operator/management/main.ts',
  retrieval: 'dataplane/retrieval/main.ts',
  memory: 'dataplane/memory/main.ts',
  catalogue: 'dataplane/catalogue/main.ts',
  signin: 'dataplane/signin/main.ts',
  console: 'dataplane/console/main.ts',
};

/**
 * A small young generation saves about 10 MiB of each process. The gateway keeps the default: it handles all requests.
 */
export function nodeOptionsOf(kind: ProcessKind): readonly string[] {
  return kind === 'gateway' ? [] : ['--max-semi-space-size=1'];
}

/**
 * One memory arena of glibc, and free memory returned from 128 KiB on, save several MiB in each process that is idle
 * most of the time. The gateway keeps the defaults, because its threads would wait for each other. Other C libraries
 * ignore both settings.
 */
export function allocatorOf(kind: ProcessKind): Readonly<Record<string, string>> {
  return kind === 'gateway' ? {} : { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };
}

/** The port that the operator calls to manage collections. */
const retrievalInternal = 'retrieval internal';

/** The address of the first gateway is passed to agents before the gateway starts. */
export const firstGateway = 'gateway-1';

/** Whether the console starts with the platform, at its first visit, or never. */
export type ConsoleMode = 'at start' | 'at the first visit' | 'never';

/** The optional parts of a platform. */
type StartedParts = {
  readonly management: boolean;
  readonly retrieval: boolean;
  readonly memory: boolean;
  /** Whether the agent catalogue is started; it needs agents. */
  readonly catalogue: boolean;
  readonly console: ConsoleMode;
  /** Whether the gateways serve agents. */
  readonly agents: boolean;
};

export function needsDatabase({
  management,
  retrieval,
  memory,
  agents,
}: Omit<StartedParts, 'console' | 'catalogue'>): boolean {
  return management || retrieval || memory || agents;
}

/** Names of the ports that are chosen at the first start of a data directory and kept. */
export function lastingPortNames(started: StartedParts & { readonly gateways: number }): readonly string[] {
  const { gateways, management, retrieval, memory, catalogue, console } = started;
  return [
    'operator',
    'operator api',
    // The ports for clients are used if the user has not chosen other ports.
    ...Array.from({ length: gateways }, (_, at) => [`gateway-${at + 1}`, `gateway-${at + 1} admin`]).flat(),
    ...(management ? ['management', 'management admin'] : []),
    ...(retrieval ? ['retrieval', 'retrieval admin', retrievalInternal] : []),
    ...(memory ? ['memory', 'memory admin'] : []),
    ...(catalogue ? ['catalogue', 'catalogue admin'] : []),
    ...(console !== 'never' ? ['console', 'console admin', 'signin'] : []),
    ...(needsDatabase(started) ? ['postgres', 'postgres admin'] : []),
  ];
}

export function loopback(port: number): string {
  return `127.0.0.1:${port}`;
}

function hostAndPort(address: string, port: number | string): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The address for processes of this machine. */
export function originOfGateway(address: string, port: number): string {
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${hostAndPort(reachable, port)}`;
}

/** The settings of gateways and operator for agents; absent if the gateways do not serve agents. */
type AgentsAt = { readonly database: DatabaseAt };

/** The rights on agents, and the issuer of their identities. */
function agentSettings(data: DataDirectory, { database }: AgentsAt): Readonly<Record<string, string>> {
  return { ...databaseSettings(data, database), PORTCULLIS_AGENT_ISSUER: agentIssuer };
}

/**
 * On one machine, headers name the caller without authentication, so every tenant is approved. Agents call models
 * through
 * the first gateway, as clients do.
 */
export function operatorProcess(
  data: DataDirectory,
  at: {
    readonly ports: LastingPorts;
    readonly retrieval: boolean;
    readonly memory: boolean;
    /** Origin of the first gateway. */
    readonly gateway: string;
    readonly agents: AgentsAt | undefined;
  },
): ChildSpec {
  const { ports, retrieval, memory, gateway, agents } = at;
  return {
    name: 'operator',
    kind: 'operator',
    env: {
      PORTCULLIS_DATA_DIR: data.root,
      PORTCULLIS_API_LISTEN: loopback(ports.of('operator api')),
      PORTCULLIS_LISTEN: loopback(ports.of('operator')),
      PORTCULLIS_AGENTS_URL: gateway,
      PORTCULLIS_AGENTS_MODEL_GATEWAY_URL: gateway,
      PORTCULLIS_AGENTS_MODEL_GATEWAY_TOKEN_FILE: data.clientKeys,
      PORTCULLIS_AGENTS_FILES_ISSUER: fileIssuer,
      ...(retrieval
        ? {
            PORTCULLIS_RETRIEVAL_URL: `http://${loopback(ports.of(retrievalInternal))}`,
            PORTCULLIS_RETRIEVAL_TOKEN_FILE: data.retrievalToken,
            PORTCULLIS_RETRIEVAL_TENANTS: '*',
            PORTCULLIS_AGENTS_RETRIEVAL_URL: `http://${loopback(ports.of('retrieval'))}`,
          }
        : {}),
      ...(memory ? { PORTCULLIS_AGENTS_MEMORY_URL: `http://${loopback(ports.of('memory'))}` } : {}),
      ...(agents === undefined ? {} : { ...agentSettings(data, agents), PORTCULLIS_AGENTS_GATEWAY_URL: gateway }),
    },
    health: ({ listening }) => `${listening}/livez`,
  };
}

/** A gateway replica, numbered from 1. */
export function gatewayProcess(
  data: DataDirectory,
  at: {
    readonly number: number;
    /** IP address for clients of models. */
    readonly address: string;
    readonly port: number;
    readonly api: string;
    readonly ports: LastingPorts;
    readonly agents: AgentsAt | undefined;
  },
): ChildSpec {
  const { number, address, port, api, ports, agents } = at;
  const name = `gateway-${number}`;
  return {
    name,
    kind: 'gateway',
    env: {
      PORTCULLIS_API_URL: api,
      PORTCULLIS_API_TOKEN_FILE: data.apiToken,
      PORTCULLIS_REPLICA: name,
      PORTCULLIS_LISTEN: hostAndPort(address, port),
      PORTCULLIS_ADMIN_LISTEN: loopback(ports.of(`${name} admin`)),
      PORTCULLIS_CLIENT_AUTH: 'keys',
      PORTCULLIS_CLIENT_KEYS_FILE: data.clientKeys,
      PORTCULLIS_RUNTIME_TOKEN_FILE: data.runtimeToken,
      PORTCULLIS_ADMIN_TOKEN_FILE: data.adminToken,
      PORTCULLIS_SECRETS_DIR: data.secrets,
      ...(agents === undefined
        ? {}
        : {
            ...agentSettings(data, agents),
            PORTCULLIS_AGENT_SIGNING_KEYS_FILE: data.agentKeys,
            PORTCULLIS_CONNECTIONS_FILE: data.connections,
            PORTCULLIS_IDENTITY: 'development',
          }),
    },
    health: adminHealth,
  };
}

export function echoProcess(port: number): ChildSpec {
  return {
    name: 'echo',
    kind: 'echo',
    env: { PORTCULLIS_LISTEN: loopback(port) },
    health: ({ listening }) => `${listening}/v1/models`,
  };
}

export function postgresProcess(data: DataDirectory, ports: LastingPorts): ChildSpec {
  return {
    name: 'postgres',
    kind: 'postgres',
    env: {
      PORTCULLIS_LISTEN: loopback(ports.of('postgres')),
      PORTCULLIS_ADMIN_LISTEN: loopback(ports.of('postgres admin')),
      PORTCULLIS_POSTGRES_DIR: data.postgres,
      PORTCULLIS_DATABASE_PASSWORD_FILE: data.databasePassword,
    },
    health: adminHealth,
  };
}

/** Starts the echo provider; `port` 0 chooses a free port. */
export function issuerProcess(data: DataDirectory, port: number): ChildSpec {
  return {
    name: 'issuer',
    kind: 'issuer',
    env: {
      PORTCULLIS_LISTEN: loopback(port),
      PORTCULLIS_ISSUER: developmentIssuer.issuer,
      PORTCULLIS_SIGNING_KEYS_FILE: data.signingKeys,
    },
    health: ({ listening }) => `${listening}/jwks.json`,
  };
}

/** The database; `external` takes URL and password file from the environment of `up`. */
export type DatabaseAt = { readonly url: string } | 'external';

export function managementProcess(
  data: DataDirectory,
  at: {
    readonly api: string;
    readonly database: DatabaseAt;
    readonly administrators: readonly string[];
    readonly ports: LastingPorts;
  },
): ChildSpec {
  return {
    name: 'management',
    kind: 'management',
    env: {
      ...databaseSettings(data, at.database),
      PORTCULLIS_LISTEN: loopback(at.ports.of('management')),
      PORTCULLIS_ADMIN_LISTEN: loopback(at.ports.of('management admin')),
      PORTCULLIS_API_URL: at.api,
      PORTCULLIS_API_TOKEN_FILE: data.apiToken,
      PORTCULLIS_ISSUERS_FILE: data.issuers,
      PORTCULLIS_ADMINISTRATORS: at.administrators.join(','),
      PORTCULLIS_DEVELOPMENT_PERSONS: `${developmentIssuer.issuer}|${defaultTenant}`,
      PORTCULLIS_ENVIRONMENT_DIR: data.root,
      PORTCULLIS_RUN_DIR: data.run,
      PORTCULLIS_ADMIN_TOKEN_FILE: data.adminToken,
      PORTCULLIS_SECRETS_DIR: data.secrets,
    },
    health: adminHealth,
  };
}

function databaseSettings(data: DataDirectory, database: DatabaseAt): Record<string, string> {
  if (database === 'external') return {};
  return { PORTCULLIS_DATABASE_URL: database.url, PORTCULLIS_DATABASE_PASSWORD_FILE: data.databasePassword };
}

type ModelServiceAt = {
  readonly gateway: string;
  readonly database: DatabaseAt;
  readonly ports: LastingPorts;
  /** Whether agents call the service with tokens of the gateway. */
  readonly agents: boolean;
};

/** The process of a service on one laptop: loopback only, headers name the caller, one process has both roles. */
function modelServiceProcess(
  name: 'retrieval' | 'memory' | 'catalogue',
  data: DataDirectory,
  { gateway, database, ports, agents }: ModelServiceAt,
  own: Readonly<Record<string, string>>,
): ChildSpec {
  return {
    name,
    kind: name,
    env: {
      ...databaseSettings(data, database),
      PORTCULLIS_LISTEN: loopback(ports.of(name)),
      PORTCULLIS_ADMIN_LISTEN: loopback(ports.of(`${name} admin`)),
      PORTCULLIS_IDENTITY: 'development',
      PORTCULLIS_MODEL_GATEWAY_URL: gateway,
      PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: data.clientKeys,
      PORTCULLIS_MODELS_FILE: data.models,
      ...(agents ? { PORTCULLIS_ISSUERS_FILE: data.agentIssuers(name) } : {}),
      ...own,
    },
    health: adminHealth,
  };
}

export function retrievalProcess(
  data: DataDirectory,
  at: ModelServiceAt & { readonly guard: string | undefined },
): ChildSpec {
  return modelServiceProcess('retrieval', data, at, {
    PORTCULLIS_INTERNAL_LISTEN: loopback(at.ports.of(retrievalInternal)),
    PORTCULLIS_INTERNAL_TOKEN_FILE: data.retrievalToken,
    PORTCULLIS_OBJECTS_DIR: data.staging,
    ...guardSettings(data, at.guard),
  });
}

export function memoryProcess(
  data: DataDirectory,
  at: ModelServiceAt & { readonly guard: string | undefined },
): ChildSpec {
  return modelServiceProcess('memory', data, at, {
    PORTCULLIS_EMBEDDING_PROFILE: offlineProfile,
    ...guardSettings(data, at.guard),
  });
}

/** @param policy name of the served policy that judges stored texts; undefined without a guard */
function guardSettings(data: DataDirectory, policy: string | undefined): Readonly<Record<string, string>> {
  if (policy === undefined) return {};
  return {
    PORTCULLIS_GUARD_TARGET_FILE: data.servedTarget(policy),
    PORTCULLIS_RUNTIME_TOKEN_FILE: data.runtimeToken,
  };
}

export function catalogueProcess(
  data: DataDirectory,
  at: ModelServiceAt & { readonly api: string; readonly guard: string | undefined },
): ChildSpec {
  return modelServiceProcess('catalogue', data, at, {
    PORTCULLIS_API_URL: at.api,
    PORTCULLIS_API_TOKEN_FILE: data.apiToken,
    PORTCULLIS_CURSOR_KEY_FILE: data.cursorKey,
    PORTCULLIS_EMBEDDING_PROFILE: offlineProfile,
    ...guardSettings(data, at.guard),
  });
}

/** A restarted operator keeps the addresses that gateways and the status file have. */
export function pinOperator(line: ReadyLine): Record<string, string> {
  return { PORTCULLIS_API_LISTEN: hostOf(apiOf(line)), PORTCULLIS_LISTEN: hostOf(line.listening) };
}

/** A restarted process keeps its address. */
export function pinListening(line: ReadyLine): Record<string, string> {
  return { PORTCULLIS_LISTEN: hostOf(line.listening) };
}

/** The addresses of a process with an admin address, as the status file names them. */
export function pinAddresses(line: ReadyLine): Record<string, string> {
  return { ...pinListening(line), PORTCULLIS_ADMIN_LISTEN: hostOf(adminOf(line)) };
}

/** The addresses of a gateway: its ready line has a reachable address, not always the address on which it listens. */
export function pinGateway(address: string): (line: ReadyLine) => Record<string, string> {
  return (line) => ({
    ...pinAddresses(line),
    PORTCULLIS_LISTEN: hostAndPort(address, new URL(line.listening).port),
  });
}

/** URL of the resource server of an operator. */
export function apiOf(line: ReadyLine): string {
  if (typeof line['api'] !== 'string') throw new Error('the ready line of the operator has no member api');
  return line['api'];
}

/** URL of health and metrics of a gateway or the management API. */
export function adminOf(line: ReadyLine): string {
  if (typeof line['admin'] !== 'string') throw new Error('the ready line of the process has no member admin');
  return line['admin'];
}

export function adminHealth(line: ReadyLine): string {
  return `${adminOf(line)}/livez`;
}

function hostOf(url: string): string {
  return new URL(url).host;
}
