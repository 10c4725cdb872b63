import type { Command } from 'commander';
import type { ProviderList } from '#contracts/management';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { addProviderTest } from './provider-test.ts';

type ListOptions = ManagementCommandOptions & OutputOptions;

export function addProvider(program: Command, source: ResourceSource): void {
  const provider = program.command('provider').description('models and external checks that are approved');
  addProviderTest(provider, source);
  withOutput(withManagementOptions(provider.command('list')))
    .description('list the approved external checks, without secrets')
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  const found = await openManagement(options).client.listProviders();
  writeResult(formatOf(options), found, () =>
    found.items.length === 0 ? 'No external check is approved.' : tableOf([header, ...found.items.map(rowOf)]),
  );
}

const header = ['NAME', 'KIND', 'CONTRACT', 'CREDENTIAL'];

function rowOf(provider: ProviderList['items'][number]): readonly string[] {
  const contract = provider.kind === 'detector' ? provider.contract : provider.profile;
  return [provider.name, provider.kind, contract, provider.credentialRef.name];
}
