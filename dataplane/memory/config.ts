import { type AuditExport, auditExportOf, auditSettings } from '#audit/audit-settings';
import { memoryLimits } from '#contracts/memory';
import { type IdentityMode, identityOf, identitySettings, listenOf } from '#identity/identity-settings';
import { ConfigError, readEnvironment, setting } from '#kit/env/read-environment';
import { addressSettings, type ListenAddress, listenAddressOf, logSettings } from '#kit/env/service-settings';
import type { LogLevel } from '#kit/log/logger';
import type { TraceExport } from '#kit/trace/export-spans';
import { traceExportOf, traceSettings } from '#kit/trace/trace-settings';
import { modelSettings } from '#models/model-settings';
import { databaseSettings } from '#sql/database-settings';
import type { MemoryQuota } from './people/memory-quota.ts';

export const settings = {
  ...addressSettings,
  PORTCULLIS_ROLE: setting.choice({
    help: 'api serves requests, worker processes events, both does both in one process',
    choices: ['api', 'worker', 'both'],
    default: 'both',
  }),
  ...identitySettings,
  ...databaseSettings('memories, events and states of sessions'),
  ...modelSettings,
  PORTCULLIS_EMBEDDING_PROFILE: setting.optional(
    setting.string({
      help: 'id of the embedding profile of all memories; without it memories are found by their words only',
    }),
  ),
  PORTCULLIS_EXTRACTION_MODEL: setting.optional(
    setting.string({
      help: 'alias of the model that extracts facts; without it plain statements of the user about themselves are read',
    }),
  ),
  PORTCULLIS_GUARD_TARGET_FILE: setting.optional(
    setting.path({
      help: 'target of the served policy that checks texts before they are stored, read again on change; without it no text is checked',
    }),
  ),
  PORTCULLIS_RUNTIME_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for the guardrail runtimes; required with PORTCULLIS_GUARD_TARGET_FILE' }),
  ),
  PORTCULLIS_INDEX_MIB: setting.integer({
    help: 'memory of the index, MiB; the memories of one user may need two thirds of it, and those of the least recently searched user are evicted first',
    min: 16,
    max: 65_536,
    default: 96,
  }),
  PORTCULLIS_EVENT_CONCURRENCY: setting.integer({
    help: 'events that one worker processes at a time',
    min: 1,
    max: 64,
    default: 4,
  }),
  PORTCULLIS_USER_MEMORIES: setting.integer({
    help: 'memories of one user; an add of more ends FAILED',
    ...memoryLimits.memories,
  }),
  PORTCULLIS_TENANT_USERS: setting.integer({
    help: 'users of one tenant who have memories; the first request of a further user is answered 429',
    min: 1,
    max: 1_000_000_000,
    default: 1_000_000,
  }),
  PORTCULLIS_TENANT_OPEN_EVENTS: setting.integer({
    help: 'adds of one tenant that have not ended; another one is answered 429',
    min: 1,
    max: 10_000_000,
    default: 10_000,
  }),
  ...auditSettings,
  ...traceSettings,
  ...logSettings,
};

type Address = { readonly host: string; readonly port: number };

export type MemoryConfig = {
  readonly listen: ListenAddress;
  readonly adminListen: Address;
  readonly role: 'api' | 'worker' | 'both';
  readonly identity: IdentityMode;
  readonly databaseUrl: string;
  readonly modelGateway: URL;
  readonly modelsFile: string;
  readonly embeddingProfile: string | undefined;
  readonly extractionModel: string | undefined;
  /** The target of the served policy that checks stored texts; without it they are not checked. */
  readonly guard: { readonly targetFile: string; readonly tokenFile: string } | 'unguarded';
  readonly indexBytes: number;
  readonly eventConcurrency: number;
  readonly quota: MemoryQuota;
  readonly auditDays: number;
  readonly auditExport: AuditExport;
  readonly traces: TraceExport | undefined;
  readonly logLevel: LogLevel;
};

/** Paths of secret files; each component reads its own. */
export type MemorySecrets = {
  readonly databasePasswordFile: string;
  readonly modelGatewayTokenFile: string | undefined;
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: MemoryConfig;
  readonly secrets: MemorySecrets;
} {
  const read = readEnvironment(settings, env);
  const identity = identityOf(read.PORTCULLIS_IDENTITY, read.PORTCULLIS_ISSUERS_FILE);
  const config: MemoryConfig = {
    listen: listenOf(identity, listenAddressOf(read)),
    adminListen: read.PORTCULLIS_ADMIN_LISTEN,
    role: read.PORTCULLIS_ROLE,
    identity,
    databaseUrl: read.PORTCULLIS_DATABASE_URL,
    modelGateway: read.PORTCULLIS_MODEL_GATEWAY_URL,
    modelsFile: read.PORTCULLIS_MODELS_FILE,
    embeddingProfile: read.PORTCULLIS_EMBEDDING_PROFILE,
    extractionModel: read.PORTCULLIS_EXTRACTION_MODEL,
    guard: guardOf(read.PORTCULLIS_GUARD_TARGET_FILE, read.PORTCULLIS_RUNTIME_TOKEN_FILE),
    indexBytes: read.PORTCULLIS_INDEX_MIB * 1_048_576,
    eventConcurrency: read.PORTCULLIS_EVENT_CONCURRENCY,
    quota: {
      userMemories: read.PORTCULLIS_USER_MEMORIES,
      tenantUsers: read.PORTCULLIS_TENANT_USERS,
      tenantOpenEvents: read.PORTCULLIS_TENANT_OPEN_EVENTS,
    },
    auditDays: read.PORTCULLIS_AUDIT_DAYS,
    auditExport: auditExportOf(read),
    traces: traceExportOf(read),
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
  const secrets = {
    databasePasswordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
    modelGatewayTokenFile: read.PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE,
  };
  return { config, secrets };
}

function guardOf(targetFile: string | undefined, tokenFile: string | undefined): MemoryConfig['guard'] {
  if (targetFile === undefined && tokenFile === undefined) return 'unguarded';
  if (targetFile !== undefined && tokenFile !== undefined) return { targetFile, tokenFile };
  const missing = targetFile === undefined ? 'PORTCULLIS_GUARD_TARGET_FILE' : 'PORTCULLIS_RUNTIME_TOKEN_FILE';
  throw new ConfigError([`${missing} is missing: set both settings to judge memories, or neither`]);
}
