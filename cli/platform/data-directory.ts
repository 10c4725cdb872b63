import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the checkout. */
export const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** The paths of one standalone platform. */
export type DataDirectory = {
  readonly root: string;
  readonly lock: string;
  readonly status: string;
  readonly resources: string;
  readonly apply: string;
  readonly apiToken: string;
  readonly runtimeToken: string;
  readonly clientKeys: string;
  readonly databasePassword: string;
  readonly signingKeys: string;
  readonly tokens: string;
  readonly secrets: string;
  readonly providers: string;
  readonly issuers: string;
  readonly limits: string;
  readonly bundles: string;
  readonly run: string;
  readonly logs: string;
  readonly postgres: string;
};

/** The data directory of the command: `--data`, else PORTCULLIS_DATA_DIR, else `.portcullis` in the checkout. */
export function dataDirectory(
  asked: string | undefined,
  fromEnvironment: string | undefined = process.env['PORTCULLIS_DATA_DIR'],
): DataDirectory {
  const named = asked ?? (fromEnvironment === '' ? undefined : fromEnvironment);
  const root = named === undefined ? join(checkout, '.portcullis') : resolve(named);
  const tokens = join(root, 'tokens');
  return {
    root,
    lock: join(root, 'lock'),
    status: join(root, 'status.json'),
    resources: join(root, 'resources'),
    apply: join(root, 'apply'),
    tokens,
    apiToken: join(tokens, 'api.token'),
    runtimeToken: join(tokens, 'runtime.token'),
    clientKeys: join(tokens, 'client.keys'),
    databasePassword: join(tokens, 'database.password'),
    signingKeys: join(tokens, 'signing.keys'),
    secrets: join(root, 'secrets'),
    providers: join(root, 'providers.yaml'),
    issuers: join(root, 'issuers.yaml'),
    limits: join(root, 'limits.yaml'),
    bundles: join(root, 'bundles'),
    run: join(root, 'run'),
    logs: join(root, 'logs'),
    postgres: join(root, 'postgres'),
  };
}
