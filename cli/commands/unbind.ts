import type { Command } from 'commander';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { applyToBindings } from '../bindings/apply-to-bindings.ts';
import { hasGuardrail, unguardedEffect } from '../bindings/unguarded-effect.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { type OutputOptions, withOutput } from '../output/format.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';

type UnbindOptions = ResourceCommandOptions & OutputOptions & WaitOption & DryRunOption & ConfirmOption;

export function addUnbind(program: Command, source: ResourceSource): void {
  const command = program
    .command('unbind')
    .description('remove the guardrail of a binding: requests and answers are no longer checked; asks first')
    .argument('<binding>', 'name of the binding');
  source
    .addWriteOptions(withConfirm(withDryRun(withWait(withOutput(withResourceOptions(command, source))))))
    .action((name: string, options: UnbindOptions) => unbind(source, name, options));
}

async function unbind(source: ResourceSource, name: string, options: UnbindOptions): Promise<void> {
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  const binding = await readResource<ModelBinding>(resources.client, kinds.modelBinding, name);
  const isAsked = options.dryRun === undefined && hasGuardrail(binding);
  await confirm(isAsked ? [unguardedEffect(binding)] : [], options);
  await applyToBindings(resources, [{ binding, guardrail: { mode: 'None' } }], options);
}
