import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { readResource } from '../resources/read-resource.ts';
import { resourceKind } from '../resources/resource-kind.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type DeleteOptions = ResourceCommandOptions & OutputOptions;

export function addDelete(program: Command, source: ResourceSource): void {
  const command = program
    .command('delete')
    .description('delete one policy or binding')
    .argument('<kind>', 'guardrailpolicy or modelbinding')
    .argument('<name>', 'name of the resource');
  withOutput(withResourceOptions(command, source)).action((word: string, name: string, options: DeleteOptions) =>
    remove(source, word, name, options),
  );
}

async function remove(source: ResourceSource, word: string, name: string, options: DeleteOptions): Promise<void> {
  const kind = resourceKind(word);
  if (kind.internal) {
    throw new CliError('usage', `A ${kind.kind} belongs to the platform, which alone creates and deletes it.`);
  }
  await using resources = await source.open(options);
  const { client } = resources;
  const { metadata } = await readResource(client, kind, name);
  await client.delete(kind, name, { uid: metadata.uid });
  const left = await client.get(kind, name);
  const waits = left !== undefined && left.metadata.uid === metadata.uid;
  const what = `${kind.kind} ${name}`;
  writeResult(formatOf(options), { kind: kind.kind, name, deleted: !waits }, () =>
    waits ? `${what} will be gone once nothing refers to it any more.` : `${what} is deleted.`,
  );
}
