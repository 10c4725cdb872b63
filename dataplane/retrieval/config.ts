import { type AuditExport, auditExportOf, auditSettings } from '#audit/audit-settings';
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
import type { TenantQuota } from './ingest/submit/check-quota.ts';
import { type StoresConfig, storeSettings, storesOf } from './stores-config.ts';

export const settings = {
  ...addressSettings,
  PORTCULLIS_INTERNAL_LISTEN: setting.optional(
    setting.hostPort({
      help: 'address of the routes by which a process with a service token manages collections; not served when absent',
    }),
  ),
  PORTCULLIS_INTERNAL_TOKEN_FILE: setting.optional(
    setting.file({
      help: 'service token for that address, one or two lines; required with PORTCULLIS_INTERNAL_LISTEN',
    }),
  ),
  PORTCULLIS_ROLE: setting.choice({
    help: 'api serves requests, worker ingests documents, both does both in one process',
    choices: ['api', 'worker', 'both'],
    default: 'both',
  }),
  ...identitySettings,
  ...databaseSettings('documents, jobs and relations'),
  ...relationsSettings,
  ...modelSettings,
  PORTCULLIS_GUARD_TARGET_FILE: setting.optional(
    setting.path({
      help: 'target of the served policy that judges documents, followed on change; documents are not judged without it',
    }),
  ),
  PORTCULLIS_RUNTIME_TOKEN_FILE: setting.optional(
    setting.file({ help: 'token for the guardrail runtimes; required with PORTCULLIS_GUARD_TARGET_FILE' }),
  ),
  ...storeSettings,
  PORTCULLIS_INDEX_MIB: setting.integer({
    help: 'memory of the embedded index, MiB; a collection that needs two thirds of it takes no more documents',
    min: 16,
    max: 65_536,
    default: 512,
  }),
  PORTCULLIS_INGEST_CONCURRENCY: setting.integer({
    help: 'documents that one worker ingests at a time',
    min: 1,
    max: 64,
    default: 2,
  }),
  PORTCULLIS_TENANT_COLLECTIONS: setting.integer({
    help: 'collections of one tenant; a request over HTTP that creates another one is answered 429',
    min: 1,
    max: 10_000_000,
    default: 10_000,
  }),
  PORTCULLIS_TENANT_DOCUMENTS: setting.integer({
    help: 'documents of one tenant in all collections together; a submit that adds more is answered 429',
    min: 1,
    max: 1_000_000_000,
    default: 1_000_000,
  }),
  PORTCULLIS_TENANT_OPEN_JOBS: setting.integer({
    help: 'jobs of one tenant that have not ended; a submit that adds more is answered 429',
    min: 1,
    max: 10_000_000,
    default: 10_000,
  }),
  PORTCULLIS_TENANT_MIB: setting.integer({
    help: 'stored and staged text and metadata of one tenant, MiB; a submit that adds more is answered 429',
    min: 1,
    max: 100_000_000,
    default: 102_400,
  }),
  PORTCULLIS_EMPTY_ACL_POLICY: setting.choice({
    help: 'default policy for documents without an access list in private collections',
    choices: ['reject', 'strictest'],
    default: 'reject',
  }),
  ...auditSettings,
  ...traceSettings,
  ...logSettings,
};

type Address = { readonly host: string; readonly port: number };

export type RetrievalConfig = {
  readonly listen: ListenAddress;
  readonly adminListen: Address;
  /**
   * Address at which managers of collections authenticate with a service token; undefined for a process with the worker
   * role only.
   */
  readonly internal: { readonly listen: Address; readonly tokenFile: string } | undefined;
  readonly role: 'api' | 'worker' | 'both';
  readonly identity: IdentityMode;
  readonly databaseUrl: string;
  readonly relations: RelationsChoice;
  readonly modelGateway: URL;
  readonly modelsFile: string;
  /** The settings of the guard: documents are judged by the served policy of this target, or not at all. */
  readonly guard: { readonly targetFile: string; readonly tokenFile: string } | 'unguarded';
  readonly stores: StoresConfig;
  readonly indexBytes: number;
  readonly ingestConcurrency: number;
  readonly tenantQuota: TenantQuota;
  readonly emptyAclPolicy: 'reject' | 'strictest';
  readonly auditDays: number;
  readonly auditExport: AuditExport;
  readonly traces: TraceExport | undefined;
  readonly logLevel: LogLevel;
};

/** Paths of secret files; each component reads its own. */
export type RetrievalSecrets = {
  readonly databasePasswordFile: string;
  readonly openFgaTokenFile: string | undefined;
  readonly modelGatewayTokenFile: string | undefined;
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: RetrievalConfig;
  readonly secrets: RetrievalSecrets;
} {
  const read = readEnvironment(settings, env);
  const identity = identityOf(read.PORTCULLIS_IDENTITY, read.PORTCULLIS_ISSUERS_FILE);
  const config: RetrievalConfig = {
    listen: listenOf(identity, listenAddressOf(read)),
    adminListen: read.PORTCULLIS_ADMIN_LISTEN,
    internal: internalOf(read.PORTCULLIS_INTERNAL_LISTEN, read.PORTCULLIS_INTERNAL_TOKEN_FILE),
    role: read.PORTCULLIS_ROLE,
    identity,
    databaseUrl: read.PORTCULLIS_DATABASE_URL,
    relations: relationsOf(read),
    modelGateway: read.PORTCULLIS_MODEL_GATEWAY_URL,
    modelsFile: read.PORTCULLIS_MODELS_FILE,
    guard: guardOf(read.PORTCULLIS_GUARD_TARGET_FILE, read.PORTCULLIS_RUNTIME_TOKEN_FILE),
    stores: storesOf(read),
    indexBytes: read.PORTCULLIS_INDEX_MIB * 1_048_576,
    ingestConcurrency: read.PORTCULLIS_INGEST_CONCURRENCY,
    tenantQuota: {
      collections: read.PORTCULLIS_TENANT_COLLECTIONS,
      documents: read.PORTCULLIS_TENANT_DOCUMENTS,
      openJobs: read.PORTCULLIS_TENANT_OPEN_JOBS,
      bytes: read.PORTCULLIS_TENANT_MIB * 1_048_576,
    },
    emptyAclPolicy: read.PORTCULLIS_EMPTY_ACL_POLICY,
    auditDays: read.PORTCULLIS_AUDIT_DAYS,
    auditExport: auditExportOf(read),
    traces: traceExportOf(read),
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
  const secrets = {
    databasePasswordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
    openFgaTokenFile: read.PORTCULLIS_OPENFGA_TOKEN_FILE,
    modelGatewayTokenFile: read.PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE,
  };
  return { config, secrets };
}

function internalOf(listen: Address | undefined, tokenFile: string | undefined): RetrievalConfig['internal'] {
  if (listen === undefined && tokenFile === undefined) return undefined;
  if (listen !== undefined && tokenFile !== undefined) return { listen, tokenFile };
  const missing = listen === undefined ? 'PORTCULLIS_INTERNAL_LISTEN' : 'PORTCULLIS_INTERNAL_TOKEN_FILE';
  throw new ConfigError([`${missing} is missing: set both settings to manage collections, or neither`]);
}

function guardOf(targetFile: string | undefined, tokenFile: string | undefined): RetrievalConfig['guard'] {
  if (targetFile === undefined && tokenFile === undefined) return 'unguarded';
  if (targetFile !== undefined && tokenFile !== undefined) return { targetFile, tokenFile };
  const missing = targetFile === undefined ? 'PORTCULLIS_GUARD_TARGET_FILE' : 'PORTCULLIS_RUNTIME_TOKEN_FILE';
  throw new ConfigError([`${missing} is missing: set both settings to judge documents, or neither`]);
}
