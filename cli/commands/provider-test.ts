import { join } from 'node:path';
import type { Command } from 'commander';
import type { ProviderTestStep } from '#contracts/provider-test';
import type { ApprovedProvider } from '#contracts/providers';
import { testProvider } from '#providers/test-provider';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import { readProviders } from '../manifests/read-environment-files.ts';
import { withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { chosenDataDirectory } from '../platform/data-directory.ts';
import { isTestedByApi, openProviderTests } from '../providers/open-provider-tests.ts';
import type { ResourceSource, SourceOptions } from '../resources/resource-source.ts';

type TestOptions = OutputOptions &
  SourceOptions & {
    readonly model?: string;
    readonly binding?: string;
  };

/** Adds `test` to the command `provider`. */
export function addProviderTest(provider: Command, source: ResourceSource): void {
  const command = provider
    .command('test')
    .description('test a provider step by step: credential, DNS, TCP, TLS, HTTP and model')
    .argument('[name]', 'name of a provider of providers.yaml, called from this machine')
    .option('--binding <name>', 'let every gateway replica test the provider of this binding')
    .option('--model <name>', 'model that a provider of kind model must list; not with --binding, which names one');
  withUnnamedOutput(withResourceOptions(command, source)).action(test);
}

async function test(name: string | undefined, options: TestOptions): Promise<void> {
  if (options.binding !== undefined && name === undefined) {
    if (options.model !== undefined) {
      throw new CliError('usage', 'The binding names the model that its provider must list: leave out --model.');
    }
    return testFromGateways(options.binding, options);
  }
  if (name !== undefined && options.binding === undefined && isTestedByApi(options)) {
    throw new CliError(
      'usage',
      `The management API tests the provider of a binding: give --binding NAME in place of ${name}, or test ${name} from this machine with --via resources.`,
    );
  }
  if (name === undefined || options.binding !== undefined) {
    throw new CliError('usage', 'Name a provider of providers.yaml, or a binding with --binding NAME, and not both.');
  }
  const data = chosenDataDirectory(options.data);
  const provider = findProvider(readProviders(data.providers), name, data.providers);
  const { credential } = provider;
  const found = await testProvider(provider, {
    ...(credential === undefined ? {} : { credentialFile: join(data.secrets, credential) }),
    ...(options.model === undefined ? {} : { model: options.model }),
    timeoutMs: (options.requestTimeout ?? 10) * 1_000,
  });
  if (found.cause !== undefined) {
    const where = stepsText(found.steps);
    throw new CliError('upstream_error', `The provider ${name} (${provider.endpoint}): ${found.message} ${where}`);
  }
  writeResult(
    formatOf(options),
    { provider: name, kind: provider.kind, ...found },
    () => `${name}: ${found.message}\n${stepsText(found.steps)}`,
  );
}

/**
 * Makes the gateway replicas test the provider of a binding, and prints each step. The replicas call the provider, so
 * that their network and credential are tested.
 */
export async function testFromGateways(binding: string, options: TestOptions): Promise<void> {
  const found = await openProviderTests(options)(binding);
  const { items, missing } = found;
  const lines = [
    ...items.map(({ replica, provider, message, steps }) => `${replica}: ${provider}: ${message} ${stepsText(steps)}`),
    ...missing.map(({ replica, reason }) => `${replica} ${reason}.`),
  ];
  if (items.length === 0 || items.some(({ cause }) => cause !== undefined)) {
    throw new CliError('upstream_error', lines.length === 0 ? 'No gateway replica runs.' : lines.join('\n'));
  }
  writeResult(formatOf(options), found, () => lines.join('\n'));
}

const marks = { ok: 'ok', failed: 'FAILED', skipped: '-' } as const;

function stepsText(steps: readonly ProviderTestStep[]): string {
  return `Steps: ${steps.map(({ step, state }) => `${step} ${marks[state]}`).join(', ')}.`;
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
