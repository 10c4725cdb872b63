import { ConfigError, readEnvironment, setting } from '#kit/env/read-environment';

export const settings = {
  PORTCULLIS_LISTEN: setting.hostPort({
    help: 'loopback address that PostgreSQL listens on; port 0 takes a free one',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_POSTGRES_DIR: setting.path({
    help: 'folder of the database; it is made at the first start',
  }),
  PORTCULLIS_DATABASE_PASSWORD_FILE: setting.file({
    help: 'file of the password that clients give; the first start sets it, a later one must have the same',
  }),
};

export type PostgresConfig = {
  readonly host: string;
  readonly port: number;
  readonly folder: string;
  readonly passwordFile: string;
};

/** Nobody but this machine's own processes speaks to the embedded database. */
const loopback = new Set(['127.0.0.1', '::1']);

export function readConfig(env: NodeJS.ProcessEnv = process.env): PostgresConfig {
  const read = readEnvironment(settings, env);
  const { host, port } = read.PORTCULLIS_LISTEN;
  if (!loopback.has(host))
    throw new ConfigError(['PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1] with a port']);
  return {
    host,
    port,
    folder: read.PORTCULLIS_POSTGRES_DIR,
    passwordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
  };
}
