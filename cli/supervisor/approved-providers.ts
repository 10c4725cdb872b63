import { existsSync, readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { type ProvidersFile, providersFileSchema } from '#contracts/providers';
import { writeAtomic } from '#kit/files/write-atomic';
import { fieldProblems } from '#kube/field-problems';
import { CliError } from '../cli-error.ts';
import type { DataDirectory } from '../platform/data-directory.ts';
import { findLastingPort } from './free-port.ts';

/**
 * Writes the list of approved providers where there is none: the built-in echo provider, on a port of its own.
 * The file belongs to the person who runs the platform and is never written again.
 */
export async function createProvidersFile(data: DataDirectory): Promise<void> {
  if (existsSync(data.providers)) return;
  const port = await findLastingPort();
  const text = `# Approved providers: endpoints and names of credentials, never secrets. Read at start.
# An OpenAI-compatible model: kind model; its key is a file of the name "credential" in the folder secrets/.
#   - { name: openai, kind: model, endpoint: "https://api.openai.com/v1", credential: openai, enabled: true }
# Detectors and classifiers of policies: kind detector or classifier (see docs/).
providers:
  - { name: echo, kind: model, endpoint: "http://127.0.0.1:${port}/v1", enabled: true }
`;
  await writeAtomic(data.providers, Buffer.from(text), { mode: 0o600 });
}

/**
 * The port on which the built-in provider must listen: that of the approved model named echo, when it is on loopback.
 * @throws CliError usage when the file is not a list of providers
 */
export function echoPort(data: DataDirectory): number | undefined {
  const entry = readProvidersFile(data.providers).providers.find(
    ({ name, kind }) => name === 'echo' && kind === 'model',
  );
  if (entry === undefined) return undefined;
  const { protocol, hostname, port } = new URL(entry.endpoint);
  return protocol === 'http:' && hostname === '127.0.0.1' && port !== '' ? Number(port) : undefined;
}

/** @throws CliError usage that names the file and the line or field */
export function readProvidersFile(path: string): ProvidersFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CliError('usage', `The file of providers ${path} cannot be read.`, { cause });
  }
  const document = parseDocument(text, { uniqueKeys: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new CliError('usage', `${path}: line ${fault.linePos?.[0].line ?? 1}: this is not YAML (${fault.code}).`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const read = providersFileSchema.safeParse(value);
  if (read.success) return read.data;
  const problems = fieldProblems(read.error, value).map(
    ({ field, message }) => `${field === '' ? 'the file' : field} ${message}`,
  );
  throw new CliError('usage', `${path}: ${problems.join('; ')}.`);
}
