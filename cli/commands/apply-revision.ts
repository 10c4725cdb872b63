import { type Command, Option } from 'commander';
import { contentProfiles } from '#contracts/profiles';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { applyToBindings } from '../bindings/apply-to-bindings.ts';
import { CliError } from '../errors/cli-error.ts';
import { newestRevision } from '../manifests/omitted-revision.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { type OutputOptions, withOutput } from '../output/format.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { checkApplicable } from '../revisions/applicable-revision.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';

type ApplyRevisionOptions = ResourceCommandOptions &
  OutputOptions &
  WaitOption &
  DryRunOption & { readonly policy?: string; readonly profile?: string };

export function addApplyRevision(program: Command, source: ResourceSource): void {
  const command = program
    .command('apply-revision')
    .description('apply a revision of a policy to a binding')
    .argument('<binding>', 'name of the binding')
    .argument('[revision]', 'the revision (default: the newest)', parseRevisionNumber)
    .option('--policy <name>', 'the policy (default: the one that the binding names)')
    .addOption(
      new Option('--profile <profile>', 'content profile (default: that of the binding)').choices(contentProfiles),
    );
  source
    .addWriteOptions(withDryRun(withWait(withOutput(withResourceOptions(command, source)))))
    .action((name: string, revision: number | undefined, options: ApplyRevisionOptions) =>
      applyRevision(source, name, revision, options),
    );
}

async function applyRevision(
  source: ResourceSource,
  name: string,
  asked: number | undefined,
  options: ApplyRevisionOptions,
): Promise<void> {
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  const { client } = resources;
  const binding = await readResource<ModelBinding>(client, kinds.modelBinding, name);
  const policy = options.policy ?? policyOf(binding);
  const revision = asked ?? (await newestRevision(client, policy));
  await checkApplicable(client, binding, { name: policy, revision });
  const guardrail = { mode: 'Policy', policyRef: { name: policy, revision } } as const;
  await applyToBindings(
    resources,
    [{ binding, guardrail, ...(options.profile === undefined ? {} : { contentProfile: options.profile }) }],
    options,
  );
}

function policyOf({ metadata, spec }: Stored<ModelBinding>): string {
  if (spec.guardrail.mode === 'Policy') return spec.guardrail.policyRef.name;
  throw new CliError('usage', `The ModelBinding ${metadata.name} has no policy: name one with --policy.`);
}
