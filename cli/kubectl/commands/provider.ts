import type { Command } from 'commander';
import { testFromGateways } from '../../commands/provider-test.ts';
import { withRequestTimeout } from '../../options/resource-options.ts';
import { type OutputOptions, withUnnamedOutput } from '../../output/format.ts';
import type { SourceOptions } from '../../resources/resource-source.ts';
import { administratorToken, managementOrigin } from './management-of-cluster.ts';

type ClusterTestOptions = OutputOptions & SourceOptions & { readonly binding: string };

/** `provider test` of a cluster: the gateways call the provider, and the management API collects their results. */
export function addClusterProvider(program: Command): void {
  const command = program
    .command('provider')
    .description('providers that are approved')
    .command('test')
    .description('let every gateway replica test a provider: credential, DNS, TCP, TLS, HTTP and model')
    .requiredOption('--binding <name>', 'ModelBinding whose provider is tested')
    .requiredOption('--server <url>', managementOrigin)
    .requiredOption('--token-file <file>', administratorToken);
  withUnnamedOutput(withRequestTimeout(command)).action((options: ClusterTestOptions) =>
    testFromGateways(options.binding, { ...options, via: 'api' }),
  );
}
