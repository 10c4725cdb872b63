import type { Command } from 'commander';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { applyToBindings } from '../bindings/apply-to-bindings.ts';
import { outdatedBindings } from '../bindings/outdated-bindings.ts';
import { CliError } from '../errors/cli-error.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { formatOf, isForPeople, type OutputOptions, withOutput } from '../output/format.ts';
import { writeText } from '../output/write.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type ReapplyOptions = ResourceCommandOptions &
  OutputOptions &
  WaitOption &
  DryRunOption & { readonly all?: boolean; readonly olderThan?: string };

export function addReapply(program: Command, source: ResourceSource): void {
  const command = program
    .command('reapply')
    .description('apply the same revision again: to one binding, to all, or to those that run on another build')
    .argument('[binding]', 'name of the binding')
    .option('--all', 'every binding')
    .option('--older-than <build>', 'every binding whose workload has a build other than this one');
  source
    .addWriteOptions(withDryRun(withWait(withOutput(withResourceOptions(command, source)))))
    .action((name: string | undefined, options: ReapplyOptions) => reapply(source, name, options));
}

async function reapply(source: ResourceSource, name: string | undefined, options: ReapplyOptions): Promise<void> {
  const { all, olderThan } = options;
  if ([name, all, olderThan].filter((one) => one !== undefined).length !== 1) {
    throw new CliError('usage', 'Give the name of one binding, or --all, or --older-than with a build.');
  }
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  const { client } = resources;
  const bindings = await chosen(client, name, options);
  const wanted = bindings.map((binding) => ({ binding, guardrail: binding.spec.guardrail }));
  await applyToBindings(resources, wanted, options);
}

async function chosen(
  client: KubeClient,
  name: string | undefined,
  options: ReapplyOptions,
): Promise<readonly Stored<ModelBinding>[]> {
  if (name !== undefined) return [await readResource<ModelBinding>(client, kinds.modelBinding, name)];
  const { items } = await listAll<ModelBinding>(client, kinds.modelBinding);
  if (options.olderThan !== undefined) return outdated(client, items, options.olderThan, options);
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

async function outdated(
  client: KubeClient,
  bindings: readonly Stored<ModelBinding>[],
  build: string,
  options: OutputOptions,
): Promise<readonly Stored<ModelBinding>[]> {
  const { items: routes } = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const { items: workloads } = await listAll<RuntimeWorkload>(client, kinds.runtimeWorkload);
  const found = outdatedBindings(build, { bindings, routes, workloads });
  if (!isForPeople(formatOf(options))) return found.bindings;
  for (const name of found.skipped) {
    writeText(`ModelBinding ${name} is skipped: its desired revision is not the applied one`);
  }
  if (found.bindings.length === 0) writeText(`Every application runs on the build ${build}`);
  return found.bindings;
}
