import { mkdir } from 'node:fs/promises';
import { type DataDirectory, dataDirectory } from '#contracts/data-directory';
import { createSecret } from '#kit/files/create-secret';

/** Creates missing folders and tokens; only their owner may read them. */
export async function prepareDataDirectory(root: string): Promise<DataDirectory> {
  const data = dataDirectory(root);
  const { resources, bundles, logs, run, secrets, tokens, served, servedPins } = data;
  for (const folder of [root, resources, bundles, logs, run, secrets, tokens, served, servedPins]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  await createSecret(data.apiToken);
  await createSecret(data.runtimeToken);
  return data;
}
