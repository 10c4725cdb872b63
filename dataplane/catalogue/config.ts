import { type IdentityMode, identityOf, identitySettings, listenOf } from '#identity/identity-settings';
import { ConfigError, readEnvironment, setting } from '#kit/env/read-environment';
import { addressSettings, type ListenAddress, listenAddressOf, logSettings } from '#kit/env/service-settings';
import type { LogLevel } from '#kit/log/logger';
import type { TraceExport } from '#kit/trace/export-spans';
import { traceExportOf, traceSettings } from '#kit/trace/trace-settings';
import { modelSettings } from '#models/model-settings';
import type { RelationsChoice } from '#relations/adapters/open-relations';
import { relationsOf, relationsSettings } from '#relations/adapters/relations-settings';
import { databaseSettings } from '#sql/database-settings';
import { type EventsConfig, eventReceiverOf, eventSettings } from './events-config.ts';

export const settings = {
  ...addressSettings,
  PORTCULLIS_ROLE: setting.choice({
    help: 'api answers requests, worker follows the resources of agents, both does both in one process',
    choices: ['api', 'worker', 'both'],
    default: 'both',
  }),
  ...identitySettings,
  ...databaseSettings('agents as the catalogue shows them, and relations'),
  ...relationsSettings,
  PORTCULLIS_API_URL: setting.optional(
    setting.url({
      help: 'address of the server that holds the resources of agents; required unless PORTCULLIS_ROLE is api',
    }),
  ),
  PORTCULLIS_API_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for that server; required unless PORTCULLIS_ROLE is api' }),
  ),
  PORTCULLIS_API_CA_FILE: setting.optional(
    setting.file({ help: 'certificate authorities of that server, PEM; those of the system when absent' }),
  ),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'namespace of the resources of agents', default: 'default' }),
  PORTCULLIS_CURSOR_KEY_FILE: setting.file({
    help: 'secret from which the key of cursors is derived, the same in all replicas; read again when it changes',
  }),
  ...modelSettings,
  PORTCULLIS_EMBEDDING_PROFILE: setting.optional(
    setting.string({
      help: 'id of the embedding profile of all agents; without it agents are found by their words only',
    }),
  ),
  PORTCULLIS_INDEX_MIB: setting.integer({
    help: 'memory of the index, MiB; the least recently searched workspaces are evicted first',
    min: 16,
    max: 65_536,
    default: 512,
  }),
  PORTCULLIS_REQUESTS_PER_CALLER: setting.integer({
    help: 'requests of one caller at a time, in this replica; further ones are refused with 429',
    min: 1,
    max: 10_000,
    default: 16,
  }),
  PORTCULLIS_REQUESTS_PER_MINUTE: setting.integer({
    help: 'requests of one caller that may start in a minute, in this replica; further ones are refused with 429',
    min: 1,
    max: 1_000_000,
    default: 1_200,
  }),
  ...eventSettings,
  PORTCULLIS_GUARD_TARGET_FILE: setting.optional(
    setting.path({
      help: 'target of the served policy that judges the texts of cards, followed on change; they are not judged without it',
    }),
  ),
  PORTCULLIS_RUNTIME_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for the guardrail runtimes; required with PORTCULLIS_GUARD_TARGET_FILE' }),
  ),
  PORTCULLIS_MASS_REMOVAL: setting.choice({
    help: 'pause: removals wait while more than a fifth of the agents vanish at once; accept: they do not',
    choices: ['pause', 'accept'],
    default: 'pause',
  }),
  ...traceSettings,
  ...logSettings,
};

type Address = { readonly host: string; readonly port: number };

/** The server that holds the resources of agents. */
export type ResourceAccess = {
  readonly url: URL;
  readonly tokenFile: string;
  readonly caFile: string | undefined;
  readonly namespace: string;
};

export type CatalogueConfig = {
  readonly listen: ListenAddress;
  readonly adminListen: Address;
  readonly role: 'api' | 'worker' | 'both';
  readonly identity: IdentityMode;
  readonly databaseUrl: string;
  readonly relations: RelationsChoice;
  /** Access to the resources; undefined if the role is `api`, because such a process reads only the database. */
  readonly api: ResourceAccess | undefined;
  readonly modelGateway: URL;
  readonly modelsFile: string;
  readonly embeddingProfile: string | undefined;
  readonly indexBytes: number;
  readonly requests: { readonly atOnce: number; readonly perMinute: number };
  /** Settings of the events; undefined if no events are delivered. */
  readonly events: EventsConfig | undefined;
  /** The policy that checks the texts of cards before they are shown. */
  readonly guard: { readonly targetFile: string; readonly tokenFile: string } | 'unguarded';
  readonly massRemoval: 'pause' | 'accept';
  readonly traces: TraceExport | undefined;
  readonly logLevel: LogLevel;
};

/** Paths of secret files; each component reads its own. */
export type CatalogueSecrets = {
  readonly databasePasswordFile: string;
  readonly openFgaTokenFile: string | undefined;
  readonly cursorKeyFile: string;
  readonly modelGatewayTokenFile: string | undefined;
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: CatalogueConfig;
  readonly secrets: CatalogueSecrets;
} {
  const read = readEnvironment(settings, env);
  const identity = identityOf(read.PORTCULLIS_IDENTITY, read.PORTCULLIS_ISSUERS_FILE);
  const config: CatalogueConfig = {
    listen: listenOf(identity, listenAddressOf(read)),
    adminListen: read.PORTCULLIS_ADMIN_LISTEN,
    role: read.PORTCULLIS_ROLE,
    identity,
    databaseUrl: read.PORTCULLIS_DATABASE_URL,
    relations: relationsOf(read),
    api: accessFrom(read),
    modelGateway: read.PORTCULLIS_MODEL_GATEWAY_URL,
    modelsFile: read.PORTCULLIS_MODELS_FILE,
    embeddingProfile: read.PORTCULLIS_EMBEDDING_PROFILE,
    indexBytes: read.PORTCULLIS_INDEX_MIB * 1_048_576,
    requests: { atOnce: read.PORTCULLIS_REQUESTS_PER_CALLER, perMinute: read.PORTCULLIS_REQUESTS_PER_MINUTE },
    events: eventReceiverOf(read),
    guard: guardOf(read.PORTCULLIS_GUARD_TARGET_FILE, read.PORTCULLIS_RUNTIME_TOKEN_FILE),
    massRemoval: read.PORTCULLIS_MASS_REMOVAL,
    traces: traceExportOf(read),
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
  const secrets = {
    databasePasswordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
    openFgaTokenFile: read.PORTCULLIS_OPENFGA_TOKEN_FILE,
    modelGatewayTokenFile: read.PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE,
    cursorKeyFile: read.PORTCULLIS_CURSOR_KEY_FILE,
  };
  return { config, secrets };
}

function accessFrom(read: {
  readonly PORTCULLIS_ROLE: CatalogueConfig['role'];
  readonly PORTCULLIS_API_URL: URL | undefined;
  readonly PORTCULLIS_API_TOKEN_FILE: string | undefined;
  readonly PORTCULLIS_API_CA_FILE: string | undefined;
  readonly PORTCULLIS_NAMESPACE: string;
}): CatalogueConfig['api'] {
  if (read.PORTCULLIS_ROLE === 'api') return undefined;
  const { PORTCULLIS_API_URL: url, PORTCULLIS_API_TOKEN_FILE: tokenFile } = read;
  if (url === undefined || tokenFile === undefined) {
    const given = { PORTCULLIS_API_URL: url, PORTCULLIS_API_TOKEN_FILE: tokenFile };
    throw new ConfigError(
      Object.entries(given)
        .filter(([, value]) => value === undefined)
        .map(([name]) => `${name} is missing: it must be set unless PORTCULLIS_ROLE is api`),
    );
  }
  return { url, tokenFile, caFile: read.PORTCULLIS_API_CA_FILE, namespace: read.PORTCULLIS_NAMESPACE };
}

function guardOf(targetFile: string | undefined, tokenFile: string | undefined): CatalogueConfig['guard'] {
  if (targetFile === undefined && tokenFile === undefined) return 'unguarded';
  if (targetFile !== undefined && tokenFile !== undefined) return { targetFile, tokenFile };
  const missing = targetFile === undefined ? 'PORTCULLIS_GUARD_TARGET_FILE' : 'PORTCULLIS_RUNTIME_TOKEN_FILE';
  throw new ConfigError([`${missing} is missing: set both settings to judge the texts of cards, or neither`]);
}
