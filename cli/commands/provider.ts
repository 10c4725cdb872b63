import type { Command } from 'commander';
import type { ProviderList } from '#contracts/management';
import { classifierProfile, detectorContract } from '#contracts/policy';
import type { ApprovedProvider } from '#contracts/providers';
import { isOverApi } from '../management/is-over-api.ts';
import { openManagement } from '../management/management-options.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { addProviderTest } from './provider-test.ts';

type ListOptions = ResourceCommandOptions & OutputOptions;

/** A provider of models, which the list of the management API does not have. */
type ListedModelProvider = {
  readonly name: string;
  readonly kind: 'model';
  readonly enabled: boolean;
  readonly credentialRef: { readonly name: string } | null;
};
type ListedProvider = ProviderList['items'][number] | ListedModelProvider;

export function addProvider(program: Command, source: ResourceSource): void {
  const provider = program.command('provider').description('models and external checks that are approved');
  addProviderTest(provider, source);
  withOutput(withResourceOptions(provider.command('list'), source))
    .description('list the approved providers, without secrets; over the API, external checks only')
    .action((options: ListOptions) => list(source, options));
}

async function list(source: ResourceSource, options: ListOptions): Promise<void> {
  const items = await readListed(source, options);
  writeNamed(formatOf(options), {
    value: { items },
    names: items.map(({ name }) => name),
    text: () => (items.length === 0 ? 'No provider is approved.' : tableOf([header, ...items.map(rowOf)])),
  });
}

async function readListed(source: ResourceSource, options: ListOptions): Promise<readonly ListedProvider[]> {
  if (isOverApi(options)) return (await openManagement(options).client.listProviders()).items;
  await using resources = await source.open(options);
  return (await resources.environment()).approved.map(listedProvider);
}

/** An approved provider in the form of the management API, which has neither addresses nor secrets. Pure. */
export function listedProvider(provider: ApprovedProvider): ListedProvider {
  const { name, kind } = provider;
  switch (kind) {
    case 'detector':
      return { name, kind, contract: detectorContract, credentialRef: { name: provider.credential } };
    case 'classifier':
      return { name, kind, profile: classifierProfile, credentialRef: { name: provider.credential } };
    case 'model': {
      const { credential, enabled } = provider;
      return { name, kind, enabled, credentialRef: credential === undefined ? null : { name: credential } };
    }
  }
}

const header = ['NAME', 'KIND', 'CONTRACT', 'CREDENTIAL', 'ENABLED'];

function rowOf(provider: ListedProvider): readonly string[] {
  const { name, kind, credentialRef } = provider;
  const credential = credentialRef?.name ?? '-';
  if (kind === 'model') return [name, kind, '-', credential, provider.enabled ? 'yes' : 'no'];
  return [name, kind, kind === 'detector' ? provider.contract : provider.profile, credential, 'yes'];
}
