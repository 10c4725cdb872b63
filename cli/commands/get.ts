import { type Command, Option } from 'commander';
import { listAll } from '#kube/list-all';
import { resourceTable } from '../output/resource-table.ts';
import { writeJson, writeText, writeYaml } from '../output/write.ts';
import { openResources } from '../platform/running-platform.ts';
import { readResource } from '../read-resource.ts';
import { resourceKind } from '../resource-kind.ts';
import { type PlatformCommandOptions, withPlatformOptions } from './platform-options.ts';

type GetOptions = PlatformCommandOptions & { readonly output?: 'yaml' | 'json' | 'wide' };

export function addGet(program: Command): void {
  const command = program
    .command('get')
    .description('list resources of a kind, or show one')
    .argument('<kind>', 'such as guardrailpolicies, modelbindings, gp or mb')
    .argument('[name]', 'name of one resource')
    .addOption(new Option('-o, --output <format>', 'how to write').choices(['yaml', 'json', 'wide']));
  withPlatformOptions(command).action(get);
}

async function get(word: string, name: string | undefined, options: GetOptions): Promise<void> {
  const kind = resourceKind(word);
  await using client = openResources(options.data, options.namespace);
  const format = options.json === true ? 'json' : options.output;
  const found = name === undefined ? (await listAll(client, kind)).items : [await readResource(client, kind, name)];
  const whole = name === undefined ? { apiVersion: 'v1', kind: 'List', items: found } : found[0];
  switch (format) {
    case 'json':
      return writeJson(whole);
    case 'yaml':
      return writeYaml(whole);
    case 'wide':
    case undefined:
      if (found.length === 0) return writeText(`No ${kind.plural} in the namespace ${options.namespace}.`);
      return writeText(resourceTable(kind, found, format === 'wide', new Date()));
  }
}
