import type { Command } from 'commander';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { type DryRunOption, dryRunSuffix, withDryRun } from '../options/dry-run-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import type { Lifecycle } from '../resources/resource-writer.ts';

type ArchiveOptions = ResourceCommandOptions & OutputOptions & DryRunOption;

export function addArchive(program: Command, source: ResourceSource): void {
  const description = 'archive a policy: bindings that it guards keep it, and it cannot be applied again';
  addLifecycle(program.command('archive').description(description), source, 'Archived');
}

export function addUnarchive(program: Command, source: ResourceSource): void {
  const description = 'allow applications of an archived policy again';
  addLifecycle(program.command('unarchive').description(description), source, 'Draft');
}

function addLifecycle(command: Command, source: ResourceSource, lifecycle: Lifecycle): void {
  const named = command.argument('<policy>', 'name of the policy');
  source
    .addWriteOptions(withDryRun(withOutput(withResourceOptions(named, source))))
    .action((name: string, options: ArchiveOptions) => setLifecycle(source, name, lifecycle, options));
}

async function setLifecycle(
  source: ResourceSource,
  name: string,
  lifecycle: Lifecycle,
  options: ArchiveOptions,
): Promise<void> {
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  const { client, writer } = resources;
  const policy = await readResource<GuardrailPolicy>(client, kinds.guardrailPolicy, name);
  const isSet = policy.spec.lifecycle === lifecycle && options.idempotencyKey === undefined;
  const { dryRun } = options;
  if (!isSet && dryRun !== 'client') await writer.setLifecycle(policy, lifecycle);
  const state = lifecycle === 'Archived' ? 'archived' : 'a draft';
  // A dry run has stored nothing.
  const written =
    dryRun === undefined
      ? await readResource<GuardrailPolicy>(client, kinds.guardrailPolicy, name)
      : { ...policy, spec: { ...policy.spec, lifecycle } };
  writeResult(formatOf(options), written, () =>
    isSet
      ? `GuardrailPolicy ${name} is ${state} already`
      : `GuardrailPolicy ${name} is ${state}${dryRunSuffix(options)}`,
  );
}
