import { readEnvironment, setting } from '#kit/env/read-environment';
import { requireLoopback } from '#kit/env/require-loopback';
import type { HostPort } from '#kit/env/setting';

export const settings = {
  PORTCULLIS_LISTEN: setting.hostPort({
    help: 'address of PostgreSQL, loopback unless PORTCULLIS_SERVE_CLUSTER is true; port 0 chooses a free port',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_SERVE_CLUSTER: setting.choice({
    help: 'whether other machines may connect, with scram-sha-256; needed in a pod',
    choices: ['true', 'false'],
    default: 'false',
  }),
  PORTCULLIS_ADMIN_LISTEN: setting.optional(
    setting.hostPort({
      help: 'address of /livez, /readyz and /metrics; loopback unless PORTCULLIS_SERVE_CLUSTER is true; when absent they are not served',
    }),
  ),
  PORTCULLIS_POSTGRES_DIR: setting.path({
    help: 'folder of the database files, created at the first start',
  }),
  PORTCULLIS_DATABASE_PASSWORD_FILE: setting.file({
    help: 'file with the password of database clients; each start sets it in the database',
  }),
};

export type PostgresConfig = {
  readonly listen: HostPort;
  /** Whether other machines may connect to the database. */
  readonly servesCluster: boolean;
  readonly adminListen: HostPort | undefined;
  readonly folder: string;
  readonly passwordFile: string;
};

/** @throws ConfigError */
export function readConfig(env: NodeJS.ProcessEnv = process.env): PostgresConfig {
  const read = readEnvironment(settings, env);
  const servesCluster = read.PORTCULLIS_SERVE_CLUSTER === 'true';
  const adminListen = read.PORTCULLIS_ADMIN_LISTEN;
  if (!servesCluster) {
    requireLoopback('PORTCULLIS_LISTEN', read.PORTCULLIS_LISTEN);
    if (adminListen !== undefined) requireLoopback('PORTCULLIS_ADMIN_LISTEN', adminListen);
  }
  return {
    listen: read.PORTCULLIS_LISTEN,
    servesCluster,
    adminListen,
    folder: read.PORTCULLIS_POSTGRES_DIR,
    passwordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
  };
}
