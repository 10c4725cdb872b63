import { readEnvironment, setting } from '#kit/env/read-environment';
import { requireLoopback } from '#kit/env/require-loopback';

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

export function readConfig(env: NodeJS.ProcessEnv = process.env): PostgresConfig {
  const read = readEnvironment(settings, env);
  const { host, port } = requireLoopback('PORTCULLIS_LISTEN', read.PORTCULLIS_LISTEN);
  return {
    host,
    port,
    folder: read.PORTCULLIS_POSTGRES_DIR,
    passwordFile: read.PORTCULLIS_DATABASE_PASSWORD_FILE,
  };
}
