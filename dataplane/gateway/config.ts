import { limits } from '#contracts/limits';
import { ConfigError, readEnvironment, setting } from '#kit/env/read-environment';
import { type ListenAddress, listenAddressOf, tlsSettings } from '#kit/env/service-settings';
import { LOG_LEVELS, type LogLevel } from '#kit/log/logger';
import type { TraceExport } from '#kit/trace/export-spans';
import { traceExportOf, traceSettings } from '#kit/trace/trace-settings';
import { type AgentsConfig, agentSettings, agentsOf } from './agents-config.ts';

export const settings = {
  PORTCULLIS_API_URL: setting.url({
    help: 'address of the Kubernetes API server, or of the operator, that holds the routes',
  }),
  PORTCULLIS_API_TOKEN_FILE: setting.file({ help: 'token for the server that holds the routes' }),
  PORTCULLIS_API_CA_FILE: setting.optional(
    setting.file({
      help: 'certificate authorities of the server that holds the routes, PEM; those of the system when absent',
    }),
  ),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'namespace of the routes', default: 'default' }),
  PORTCULLIS_GATEWAY: setting.string({ help: 'name of the gateway whose routes are served', default: 'default' }),
  PORTCULLIS_REPLICA: setting.string({ help: 'name of this replica and of its report' }),
  PORTCULLIS_POD_UID: setting.optional(
    setting.string({ help: 'UID of the pod with the name of this replica; its report is deleted with the pod' }),
  ),
  PORTCULLIS_LISTEN: setting.hostPort({ help: 'address for clients of models', default: '127.0.0.1:0' }),
  PORTCULLIS_ADMIN_LISTEN: setting.hostPort({
    help: 'address of /livez, /readyz and /metrics',
    default: '127.0.0.1:0',
  }),
  ...tlsSettings,
  PORTCULLIS_CLIENT_AUTH: setting.choice({
    help: 'keys: clients need a client key; open: clients need no key',
    choices: ['keys', 'open'],
    default: 'keys',
  }),
  PORTCULLIS_CLIENT_KEYS_FILE: setting.optional(
    setting.file({
      help: 'client keys, one per line, each followed by a name and rules such as aliases=a,b; required unless PORTCULLIS_CLIENT_AUTH is open',
    }),
  ),
  PORTCULLIS_AGENT_ISSUER: setting.optional(
    setting.string({
      help: 'issuer of the tokens of agents, as in their claim iss; no such token is accepted or signed without it',
    }),
  ),
  PORTCULLIS_AGENT_KEYS_FILE: setting.optional(
    setting.file({
      help: 'public keys of that issuer, JWKS, for a gateway that does not serve agents; read again when it changes',
    }),
  ),
  ...agentSettings,
  ...traceSettings,
  PORTCULLIS_RUNTIME_TOKEN_FILE: setting.file({ help: 'token for the guardrail runtimes' }),
  PORTCULLIS_ADMIN_TOKEN_FILE: setting.optional(
    setting.file({
      help: 'token for /activity of the admin address, which shows the newest decisions; not served without it',
    }),
  ),
  PORTCULLIS_SECRETS_DIR: setting.path({ help: 'folder of provider credentials, one file for each credential' }),
  PORTCULLIS_MAX_STREAM_SECONDS: setting.integer({
    help: 'timeout of a request in seconds, streams included',
    min: 1,
    max: 86_400,
    default: 900,
  }),
  PORTCULLIS_STREAM_IDLE_SECONDS: setting.integer({
    help: 'longest pause of a provider within a streamed answer, in seconds',
    min: 1,
    max: 3_600,
    default: 60,
  }),
  PORTCULLIS_MAX_CHECKS_PER_ADDRESS: setting.integer({
    help: 'concurrent checks at one address of a runtime; further ones wait',
    min: 1,
    max: 4_096,
    default: limits.maxConcurrency.default,
  }),
  PORTCULLIS_MAX_HELD_MIB: setting.integer({
    help: 'memory for the bodies of requests and whole answers of all requests together, in MiB; further ones wait up to 10 s, then they are refused with overloaded',
    min: 80,
    max: 65_536,
    default: 256,
  }),
  PORTCULLIS_LOG_LEVEL: setting.choice({
    help: 'lowest log level that is written',
    choices: LOG_LEVELS,
    default: 'info',
  }),
};

type Address = { readonly host: string; readonly port: number };

/** The issuer of agent tokens, and the file of its keys: public keys, or the keys for signing. */
export type AgentIssuer = { readonly issuer: string; readonly keysFile: string };

export type GatewayConfig = {
  readonly api: {
    readonly url: URL;
    readonly tokenFile: string;
    readonly caFile: string | undefined;
    readonly namespace: string;
  };
  readonly gateway: string;
  readonly replica: string;
  readonly podUid: string | undefined;
  readonly listen: ListenAddress;
  readonly adminListen: Address;
  readonly clients:
    | { readonly auth: 'open' }
    | { readonly auth: 'keys'; readonly keysFile: string; readonly agents?: AgentIssuer };
  /** Settings for agents; undefined for a gateway that serves models only. */
  readonly agents?: AgentsConfig;
  /** Settings of the collector of spans; if absent, spans are not recorded. */
  readonly traces?: TraceExport;
  readonly maxRequestMs: number;
  readonly streamIdleMs: number;
  /**
   * Maximum number of concurrent checks at the runtime address of one route. Several runtime processes may share this
   * address.
   */
  readonly maxChecksPerAddress: number;
  /**
   * Bytes of requests and whole answers that all requests hold together; one request and one answer have at most 20 MiB
   * each.
   */
  readonly maxHeldBytes: number;
  readonly logLevel: LogLevel;
};

/** Paths of the files of secrets; each file is read when its secret is sent. */
export type GatewaySecrets = {
  readonly runtimeTokenFile: string;
  readonly credentialsDirectory: string;
  readonly adminTokenFile?: string;
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: GatewayConfig;
  readonly secrets: GatewaySecrets;
} {
  const read = readEnvironment(settings, env);
  const agents = agentsOf(read);
  const traces = traceExportOf(read);
  const config: GatewayConfig = {
    api: {
      url: read.PORTCULLIS_API_URL,
      tokenFile: read.PORTCULLIS_API_TOKEN_FILE,
      caFile: read.PORTCULLIS_API_CA_FILE,
      namespace: read.PORTCULLIS_NAMESPACE,
    },
    gateway: read.PORTCULLIS_GATEWAY,
    replica: read.PORTCULLIS_REPLICA,
    podUid: read.PORTCULLIS_POD_UID,
    listen: listenAddressOf(read),
    adminListen: read.PORTCULLIS_ADMIN_LISTEN,
    clients: clientsOf(read.PORTCULLIS_CLIENT_AUTH, read.PORTCULLIS_CLIENT_KEYS_FILE, {
      issuer: read.PORTCULLIS_AGENT_ISSUER,
      keysFile: read.PORTCULLIS_AGENT_KEYS_FILE,
      isSigned: agents !== undefined,
    }),
    ...(agents === undefined ? {} : { agents }),
    ...(traces === undefined ? {} : { traces }),
    maxRequestMs: read.PORTCULLIS_MAX_STREAM_SECONDS * 1_000,
    streamIdleMs: read.PORTCULLIS_STREAM_IDLE_SECONDS * 1_000,
    maxChecksPerAddress: read.PORTCULLIS_MAX_CHECKS_PER_ADDRESS,
    maxHeldBytes: read.PORTCULLIS_MAX_HELD_MIB * 1_048_576,
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
  const adminTokenFile = read.PORTCULLIS_ADMIN_TOKEN_FILE;
  return {
    config,
    secrets: {
      runtimeTokenFile: read.PORTCULLIS_RUNTIME_TOKEN_FILE,
      credentialsDirectory: read.PORTCULLIS_SECRETS_DIR,
      ...(adminTokenFile === undefined ? {} : { adminTokenFile }),
    },
  };
}

type GivenIssuer = {
  readonly issuer: string | undefined;
  readonly keysFile: string | undefined;
  /** Whether this gateway signs tokens with the keys of the issuer, because it serves agents. */
  readonly isSigned: boolean;
};

function clientsOf(
  auth: 'keys' | 'open',
  keysFile: string | undefined,
  { issuer, keysFile: agentKeys, isSigned }: GivenIssuer,
): GatewayConfig['clients'] {
  if (!isSigned && (issuer === undefined) !== (agentKeys === undefined)) {
    throw new ConfigError(['PORTCULLIS_AGENT_ISSUER and PORTCULLIS_AGENT_KEYS_FILE must be set together']);
  }
  const agents = issuer === undefined || agentKeys === undefined ? undefined : { issuer, keysFile: agentKeys };
  if (auth === 'open') {
    if (issuer === undefined) return { auth };
    throw new ConfigError([
      'PORTCULLIS_AGENT_ISSUER is set: while PORTCULLIS_CLIENT_AUTH is open no token limits a client, so remove one of the two',
    ]);
  }
  if (keysFile !== undefined) return { auth, keysFile, ...(agents === undefined ? {} : { agents }) };
  throw new ConfigError([
    'PORTCULLIS_CLIENT_KEYS_FILE is missing: it must be set unless PORTCULLIS_CLIENT_AUTH is open',
  ]);
}
