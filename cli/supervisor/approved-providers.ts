import { existsSync } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import { readProviders } from '../manifests/read-environment-files.ts';
import { findLastingPort } from './free-port.ts';

/**
 * Creates the list of approved providers with the built-in echo provider. An existing file belongs to the user and is
 * never changed.
 */
export async function createProvidersFile(data: DataDirectory): Promise<void> {
  if (existsSync(data.providers)) return;
  const port = await findLastingPort();
  const text = `# Approved providers: endpoints and names of credentials, never secrets. Changes take effect immediately.
# Any OpenAI-compatible model can stand here; its key is a file of the name "credential" in the folder secrets/:
#   - { name: my-models, kind: model, endpoint: "https://models.example/v1", credential: my-models, enabled: true }
# Detectors and classifiers that policies name are listed here too: see docs/.
providers:
  - { name: echo, kind: model, endpoint: "http://127.0.0.1:${port}/v1", enabled: true }
`;
  await writeAtomic(data.providers, Buffer.from(text), { mode: 0o600 });
}

/**
 * The port of the built-in provider: the port of the approved model named echo, if its address is on loopback.
 * @throws CliError usage if the file is not a list of providers
 */
export function echoPort(data: DataDirectory): number | undefined {
  const entry = readProviders(data.providers).find(({ name, kind }) => name === 'echo' && kind === 'model');
  if (entry === undefined) return undefined;
  const { protocol, hostname, port } = new URL(entry.endpoint);
  return protocol === 'http:' && hostname === '127.0.0.1' && port !== '' ? Number(port) : undefined;
}
