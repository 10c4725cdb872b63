import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { writeJson, writeText } from '../output/write.ts';
import { openResources } from '../platform/running-platform.ts';
import { readResource } from '../read-resource.ts';
import { resourceKind } from '../resource-kind.ts';
import { type PlatformCommandOptions, withPlatformOptions } from './platform-options.ts';

export function addDelete(program: Command): void {
  const command = program
    .command('delete')
    .description('delete one policy or binding')
    .argument('<kind>', 'guardrailpolicy or modelbinding')
    .argument('<name>', 'name of the resource');
  withPlatformOptions(command).action(remove);
}

async function remove(word: string, name: string, options: PlatformCommandOptions): Promise<void> {
  const kind = resourceKind(word);
  if (kind.internal) {
    throw new CliError('usage', `A ${kind.kind} belongs to the platform, which alone creates and deletes it.`);
  }
  await using client = openResources(options.data, options.namespace);
  const { metadata } = await readResource(client, kind, name);
  await client.delete(kind, name, { uid: metadata.uid });
  const left = await client.get(kind, name);
  const waits = left !== undefined && left.metadata.uid === metadata.uid;
  if (options.json === true) return writeJson({ kind: kind.kind, name, deleted: !waits });
  const what = `${kind.kind} ${name}`;
  writeText(waits ? `${what} will be gone once nothing refers to it any more.` : `${what} is deleted.`);
}
