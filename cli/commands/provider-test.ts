import { join } from 'node:path';
import type { Command } from 'commander';
import type { ApprovedProvider } from '#contracts/providers';
import { testProvider } from '#providers/test-provider';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import { readProviders } from '../manifests/read-environment-files.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { chosenDataDirectory } from '../platform/data-directory.ts';

type TestOptions = OutputOptions & {
  readonly data?: string;
  readonly model?: string;
  readonly requestTimeout: number;
};

/** Adds `test` to the command `provider`. */
export function addProviderTest(provider: Command): void {
  const command = provider
    .command('test')
    .description('call a provider of providers.yaml and say what is wrong with it')
    .argument('<name>', 'name of the provider')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
    .option('--model <name>', 'model that a provider of kind model must list')
    .option('--request-timeout <seconds>', 'timeout of the call', wholeNumber(1, 9_999), 10);
  withOutput(command).action(test);
}

async function test(name: string, options: TestOptions): Promise<void> {
  const data = chosenDataDirectory(options.data);
  const provider = findProvider(readProviders(data.providers), name, data.providers);
  const { credential } = provider;
  const found = await testProvider(provider, {
    ...(credential === undefined ? {} : { credentialFile: join(data.secrets, credential) }),
    ...(options.model === undefined ? {} : { model: options.model }),
    timeoutMs: options.requestTimeout * 1_000,
  });
  if (found.cause !== undefined) {
    throw new CliError('upstream_error', `The provider ${name} (${provider.endpoint}): ${found.message}`);
  }
  writeResult(formatOf(options), { provider: name, kind: provider.kind, ...found }, () => `${name}: ${found.message}`);
}

function findProvider(approved: readonly ApprovedProvider[], name: string, file: string): ApprovedProvider {
  const found = approved.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = approved.map((one) => one.name).join(', ');
  const meant = didYouMean(
    name,
    approved.map((one) => one.name),
  );
  throw new CliError(
    'not_found',
    `${file} lists no provider ${name}.${meant} It lists: ${names === '' ? 'none' : names}.`,
  );
}
