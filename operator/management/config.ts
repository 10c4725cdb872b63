import { join } from 'node:path';
import { type AuditExport, auditExportOf, auditSettings } from '#audit/audit-settings';
import { readEnvironment, setting } from '#kit/env/read-environment';
import { addressSettings, type ListenAddress, listenAddressOf, logSettings } from '#kit/env/service-settings';
import type { LogLevel } from '#kit/log/logger';
import { authorSettings } from '#kube/client/author-settings';
import type { RelationsChoice } from '#relations/adapters/open-relations';
import { relationsOf, relationsSettings } from '#relations/adapters/relations-settings';
import { databaseSettings } from '#sql/database-settings';
import { type DevelopmentPersons, readDevelopmentPersons } from './agents/development-persons.ts';
import type { QuotaLimits } from './policies/quotas.ts';

export const settings = {
  ...addressSettings,
  PORTCULLIS_API_URL: setting.url({ help: 'URL of the resource server' }),
  PORTCULLIS_API_TOKEN_FILE: setting.file({ help: 'token for the resource server' }),
  PORTCULLIS_API_CA_FILE: setting.optional(
    setting.file({ help: 'certificate authorities of the resource server, PEM; those of the system when absent' }),
  ),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'namespace of the resources', default: 'default' }),
  ...authorSettings,
  ...databaseSettings('idempotency keys, operations and relations'),
  PORTCULLIS_ISSUERS_FILE: setting.file({
    help: 'YAML list of trusted issuers of platform tokens, each with issuer, audience and jwksUrl or jwksFile',
  }),
  ...relationsSettings,
  PORTCULLIS_ADMINISTRATORS: setting.optional(
    setting.list({
      help: 'first administrators, each as issuer|subject; they are granted the permission at the first start only',
    }),
  ),
  ...auditSettings,
  PORTCULLIS_ENVIRONMENT_DIR: setting.path({ help: 'folder of providers.yaml; the operator must have the same one' }),
  PORTCULLIS_RUN_DIR: setting.optional(
    setting.path({
      help: 'standalone: folder with one file per running process; when absent, gateway replicas are pods',
    }),
  ),
  PORTCULLIS_DEVELOPMENT_PERSONS: setting.optional(
    setting.string({
      help: 'standalone: issuer|tenant; a subject of the issuer owns the agents of the person with its name, whom services in development mode know by the tenant and a header',
    }),
  ),
  PORTCULLIS_BREAK_GLASS_FILE: setting.optional(
    setting.path({
      help: 'file with an emergency credential of at least 32 characters, which may only change rights; each use is an error in the log',
    }),
  ),
  PORTCULLIS_ADMIN_TOKEN_FILE: setting.optional(
    setting.file({
      help: 'token for the admin addresses of gateways, for GET /api/v1/activity; decisions are not read without it',
    }),
  ),
  PORTCULLIS_MAX_POLICIES: setting.integer({
    help: 'most policies; the creation of another one is refused',
    min: 1,
    max: 1_000_000,
    default: 5_000,
  }),
  PORTCULLIS_MAX_REVISIONS: setting.integer({
    help: 'most versions of all policies together, deleted ones included; the next save is refused',
    min: 1,
    max: 10_000_000,
    default: 100_000,
  }),
  PORTCULLIS_MAX_REVISION_MIB: setting.integer({
    help: 'most MiB of definitions and tests of all versions; the next save is refused',
    min: 1,
    max: 1_048_576,
    default: 1_024,
  }),
  PORTCULLIS_REQUESTS_PER_MINUTE: setting.integer({
    help: 'requests of one subject that may start in a minute, in this replica; further ones are refused with 429, and a command or a check counts as ten',
    min: 1,
    max: 1_000_000,
    default: 3_000,
  }),
  PORTCULLIS_SECRETS_DIR: setting.optional(
    setting.path({
      help: 'folder of provider credentials, one file for each credential; without it a dry run asks no provider',
    }),
  ),
  ...logSettings,
};

type Address = { readonly host: string; readonly port: number };

export type ManagementConfig = {
  readonly listen: ListenAddress;
  readonly adminListen: Address;
  readonly api: {
    readonly url: URL;
    readonly tokenFile: string;
    readonly caFile: string | undefined;
    readonly namespace: string;
    /** Whether it names the users who make changes. */
    readonly namesUsers: boolean;
  };
  readonly databaseUrl: string;
  readonly issuersFile: string;
  readonly relations: RelationsChoice;
  readonly administrators: readonly string[];
  /** How long entries of the audit log are kept, days. */
  readonly auditDays: number;
  readonly auditExport: AuditExport;
  readonly quotas: QuotaLimits;
  /** Maximum number of requests of one subject in a minute; a command or a check counts as ten requests. */
  readonly requestsPerMinute: number;
  readonly environment: { readonly providers: string; readonly limits: string };
  readonly runDirectory: string | undefined;
  readonly developmentPersons: DevelopmentPersons | undefined;
  readonly logLevel: LogLevel;
};

/** Paths of secrets; each part reads its own. */
export type ManagementSecrets = {
  readonly databasePasswordFile: string;
  readonly openFgaTokenFile: string | undefined;
  readonly adminTokenFile: string | undefined;
  readonly breakGlassFile: string | undefined;
  readonly providerSecretsDirectory: string | undefined;
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: ManagementConfig;
  readonly secrets: ManagementSecrets;
} {
  const read = readEnvironment(settings, env);
  const folder = read.PORTCULLIS_ENVIRONMENT_DIR;
  const config: ManagementConfig = {
    listen: listenAddressOf(read),
    adminListen: read.PORTCULLIS_ADMIN_LISTEN,
    api: {
      url: read.PORTCULLIS_API_URL,
      tokenFile: read.PORTCULLIS_API_TOKEN_FILE,
      caFile: read.PORTCULLIS_API_CA_FILE,
      namespace: read.PORTCULLIS_NAMESPACE,
      namesUsers: read.PORTCULLIS_CHANGE_AUTHORS === 'admission',
    },
    databaseUrl: read.PORTCULLIS_DATABASE_URL,
    issuersFile: read.PORTCULLIS_ISSUERS_FILE,
    relations: relationsOf(read),
    administrators: read.PORTCULLIS_ADMINISTRATORS ?? [],
    auditDays: read.PORTCULLIS_AUDIT_DAYS,
    auditExport: auditExportOf(read),
    quotas: {
      policies: read.PORTCULLIS_MAX_POLICIES,
      revisions: read.PORTCULLIS_MAX_REVISIONS,
      bytes: read.PORTCULLIS_MAX_REVISION_MIB * 1_048_576,
    },
    requestsPerMinute: read.PORTCULLIS_REQUESTS_PER_MINUTE,
    environment: { providers: join(folder, 'providers.yaml'), limits: join(folder, 'limits.yaml') },
    runDirectory: read.PORTCULLIS_RUN_DIR,
    developmentPersons: readDevelopmentPersons(read.PORTCULLIS_DEVELOPMENT_PERSONS),
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
  const secrets = {
    databasePasswordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
    openFgaTokenFile: read.PORTCULLIS_OPENFGA_TOKEN_FILE,
    breakGlassFile: read.PORTCULLIS_BREAK_GLASS_FILE,
    adminTokenFile: read.PORTCULLIS_ADMIN_TOKEN_FILE,
    providerSecretsDirectory: read.PORTCULLIS_SECRETS_DIR,
  };
  return { config, secrets };
}
