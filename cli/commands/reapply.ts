import type { Command } from 'commander';
import { v7 as uuidv7 } from 'uuid';
import type { GatewayRoute } from '#crds/gateway-route';
import { kinds } from '#crds/kinds';
import type { Stored } from '#crds/metadata';
import type { ModelBinding } from '#crds/model-binding';
import type { RuntimeGeneration } from '#crds/runtime-generation';
import { applyDesired } from '#kube/apply';
import type { KubeClient } from '#kube/client';
import { listAll } from '#kube/list-all';
import { CliError } from '../cli-error.ts';
import { writeJson, writeText } from '../output/write.ts';
import { outdatedBindings } from '../platform/outdated-bindings.ts';
import { openResources } from '../platform/running-platform.ts';
import { waitApplied } from '../platform/wait-applied.ts';
import { readResource } from '../read-resource.ts';
import { type PlatformCommandOptions, withPlatformOptions } from './platform-options.ts';
import { type WaitOption, withWait } from './wait-option.ts';

type ReapplyOptions = PlatformCommandOptions & WaitOption & { readonly olderThan?: string };

export function addReapply(program: Command): void {
  const command = program
    .command('reapply')
    .description('apply the same revision once more: to one binding, or to all that run on another build')
    .argument('[binding]', 'name of the binding')
    .option('--older-than <build>', 'every binding whose processes are of another build than this one');
  withWait(withPlatformOptions(command)).action(reapply);
}

async function reapply(name: string | undefined, options: ReapplyOptions): Promise<void> {
  const { olderThan } = options;
  if ((name === undefined) === (olderThan === undefined)) {
    throw new CliError('usage', 'Name one binding, or a build with --older-than.');
  }
  await using client = openResources(options.data, options.namespace);
  const bindings =
    name === undefined
      ? await readOutdated(client, olderThan ?? '', options)
      : [await readResource<ModelBinding>(client, kinds.modelBinding, name)];
  const written = [];
  for (const binding of bindings) written.push(await applyAgain(client, binding, options));
  for (const binding of written) await waitFor(client, binding, options);
  if (options.json === true) writeJson(name === undefined ? written : written[0]);
}

async function readOutdated(
  client: KubeClient,
  build: string,
  { json }: ReapplyOptions,
): Promise<readonly Stored<ModelBinding>[]> {
  const { items: bindings } = await listAll<ModelBinding>(client, kinds.modelBinding);
  const { items: routes } = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const { items: generations } = await listAll<RuntimeGeneration>(client, kinds.runtimeGeneration);
  const found = outdatedBindings(build, { bindings, routes, generations });
  if (json === true) return found.bindings;
  for (const name of found.left) {
    writeText(`ModelBinding ${name} is left alone: what it asks for is not what is applied`);
  }
  if (found.bindings.length === 0) writeText(`Every application runs on the build ${build}`);
  return found.bindings;
}

/** The same specification with a new token: who wrote in between is not overwritten. */
async function applyAgain(
  client: KubeClient,
  binding: Stored<ModelBinding>,
  { json }: ReapplyOptions,
): Promise<Stored<ModelBinding>> {
  const spec = { ...binding.spec, apply: uuidv7() };
  const written = await applyDesired(client, kinds.modelBinding, binding, { spec }, 'generation');
  const { guardrail } = binding.spec;
  const what = guardrail.mode === 'Policy' ? `revision ${guardrail.policyRef.revision}` : 'no policy';
  if (json !== true) writeText(`ModelBinding ${binding.metadata.name} wants ${what}`);
  return written;
}

async function waitFor(client: KubeClient, written: Stored<ModelBinding>, options: ReapplyOptions): Promise<void> {
  if (options.wait === undefined) return;
  await waitApplied(client, written, options.wait);
  if (options.json !== true) writeText(`ModelBinding ${written.metadata.name} is applied`);
}
