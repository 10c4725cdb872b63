import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The paths of a standalone platform. */
export type DataDirectory = {
  readonly resources: string;
  readonly apply: string;
  readonly bundles: string;
  readonly logs: string;
  readonly run: string;
  readonly secrets: string;
  readonly apiToken: string;
  readonly runtimeToken: string;
  readonly providers: string;
  readonly limits: string;
};

function dataDirectory(root: string): DataDirectory {
  return {
    resources: join(root, 'resources'),
    apply: join(root, 'apply'),
    bundles: join(root, 'bundles'),
    logs: join(root, 'logs'),
    run: join(root, 'run'),
    secrets: join(root, 'secrets'),
    apiToken: join(root, 'tokens', 'api.token'),
    runtimeToken: join(root, 'tokens', 'runtime.token'),
    providers: join(root, 'providers.yaml'),
    limits: join(root, 'limits.yaml'),
  };
}

/** Creates missing folders and tokens; only their owner may read them. */
export async function prepareDataDirectory(root: string): Promise<DataDirectory> {
  const places = dataDirectory(root);
  const { resources, bundles, logs, run, secrets } = places;
  for (const folder of [root, resources, bundles, logs, run, secrets, join(root, 'tokens')]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  for (const token of [places.apiToken, places.runtimeToken]) await createToken(token);
  return places;
}

async function createToken(path: string): Promise<void> {
  try {
    await writeFile(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
