import { join } from 'node:path';
import { ConfigError, readEnvironment, setting } from '#kit/env/read-environment';
import { LOG_LEVELS, type LogLevel } from '#kit/log/logger';

export const settings = {
  PORTCULLIS_LISTEN: setting.hostPort({ help: 'address for clients of the API', default: '127.0.0.1:0' }),
  PORTCULLIS_ADMIN_LISTEN: setting.hostPort({
    help: 'address of /livez, /readyz and /metrics',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_API_URL: setting.url({ help: 'the server that holds the resources' }),
  PORTCULLIS_API_TOKEN_FILE: setting.file({ help: 'token for that server' }),
  PORTCULLIS_API_CA_FILE: setting.optional(
    setting.file({ help: 'authorities of that server, PEM; those of the system when absent' }),
  ),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'namespace of the resources', default: 'default' }),
  PORTCULLIS_DATABASE_URL: setting.string({
    help: 'postgres://user@host:port/database without a password: idempotency keys, operations and relations',
  }),
  PORTCULLIS_DATABASE_PASSWORD_FILE: setting.file({ help: 'the password of that user, read anew at every connection' }),
  PORTCULLIS_ISSUERS_FILE: setting.file({
    help: 'YAML: the issuers whose platform tokens are taken, each with issuer, audience and jwksUrl or jwksFile',
  }),
  PORTCULLIS_RELATIONS: setting.choice({
    help: 'where permissions are: in the same database, or in an OpenFGA server',
    choices: ['postgres', 'openfga'],
    default: 'postgres',
  }),
  PORTCULLIS_OPENFGA_URL: setting.optional(
    setting.url({ help: 'the OpenFGA server; needed where PORTCULLIS_RELATIONS is openfga' }),
  ),
  PORTCULLIS_OPENFGA_STORE: setting.string({
    help: 'store of this installation in OpenFGA, made where there is none; two installations that share one share rights',
    default: 'portcullis',
  }),
  PORTCULLIS_OPENFGA_TOKEN_FILE: setting.optional(
    setting.file({ help: 'the token that the OpenFGA server asks for, read again on change' }),
  ),
  PORTCULLIS_ADMINISTRATORS: setting.optional(
    setting.list({ help: 'the first administrators, each as issuer|subject; they are granted the right at the start' }),
  ),
  PORTCULLIS_ENVIRONMENT_DIR: setting.path({ help: 'the folder of providers.yaml, as the operator has it' }),
  PORTCULLIS_RUN_DIR: setting.optional(
    setting.path({
      help: 'standalone: the folder of the notes of running processes; where absent, gateway replicas are pods',
    }),
  ),
  PORTCULLIS_LOG_LEVEL: setting.choice({
    help: 'least important lines of the log',
    choices: LOG_LEVELS,
    default: 'info',
  }),
};

type Address = { readonly host: string; readonly port: number };

export type ManagementConfig = {
  readonly listen: Address;
  readonly adminListen: Address;
  readonly api: {
    readonly url: URL;
    readonly tokenFile: string;
    readonly caFile: string | undefined;
    readonly namespace: string;
  };
  readonly databaseUrl: string;
  readonly issuersFile: string;
  readonly relations:
    | { readonly kind: 'postgres' }
    | { readonly kind: 'openfga'; readonly url: URL; readonly storeName: string };
  readonly administrators: readonly string[];
  readonly environment: { readonly providers: string; readonly limits: string };
  readonly runDirectory: string | undefined;
  readonly logLevel: LogLevel;
};

/** Where secrets are; they are read by those who need them. */
export type ManagementSecrets = {
  readonly databasePasswordFile: string;
  readonly openFgaTokenFile: string | undefined;
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: ManagementConfig;
  readonly secrets: ManagementSecrets;
} {
  const read = readEnvironment(settings, env);
  const folder = read.PORTCULLIS_ENVIRONMENT_DIR;
  const config: ManagementConfig = {
    listen: read.PORTCULLIS_LISTEN,
    adminListen: read.PORTCULLIS_ADMIN_LISTEN,
    api: {
      url: read.PORTCULLIS_API_URL,
      tokenFile: read.PORTCULLIS_API_TOKEN_FILE,
      caFile: read.PORTCULLIS_API_CA_FILE,
      namespace: read.PORTCULLIS_NAMESPACE,
    },
    databaseUrl: read.PORTCULLIS_DATABASE_URL,
    issuersFile: read.PORTCULLIS_ISSUERS_FILE,
    relations: relationsOf(read.PORTCULLIS_RELATIONS, read.PORTCULLIS_OPENFGA_URL, read.PORTCULLIS_OPENFGA_STORE),
    administrators: read.PORTCULLIS_ADMINISTRATORS ?? [],
    environment: { providers: join(folder, 'providers.yaml'), limits: join(folder, 'limits.yaml') },
    runDirectory: read.PORTCULLIS_RUN_DIR,
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
  const secrets = {
    databasePasswordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
    openFgaTokenFile: read.PORTCULLIS_OPENFGA_TOKEN_FILE,
  };
  return { config, secrets };
}

function relationsOf(
  kind: 'postgres' | 'openfga',
  url: URL | undefined,
  storeName: string,
): ManagementConfig['relations'] {
  if (kind === 'postgres') return { kind };
  if (url !== undefined) return { kind, url, storeName };
  throw new ConfigError(['PORTCULLIS_OPENFGA_URL is missing: it must be set where PORTCULLIS_RELATIONS is openfga']);
}
