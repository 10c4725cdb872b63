import { type Command, InvalidArgumentError } from 'commander';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { isPurged } from '#resources/purged-revision';
import { changeAgent, rolledBackTo } from '../agents/change-agent.ts';
import { applyToBindings } from '../bindings/apply-to-bindings.ts';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { type DryRunOption, withDryRun } from '../options/dry-run-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { type OutputOptions, withOutput } from '../output/format.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { checkApplicable, type RevisionRef } from '../revisions/applicable-revision.ts';
import { readRevisionOfId } from '../revisions/read-revisions.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';
import { readKindAndName } from '../selection/select.ts';

type RollbackOptions = ResourceCommandOptions &
  OutputOptions &
  WaitOption &
  DryRunOption &
  ConfirmOption & { readonly toRevision?: string };

export function addRollback(program: Command, source: ResourceSource): void {
  const command = program
    .command('rollback')
    .description('apply an earlier revision to a binding, or serve the previous version of an agent')
    .argument('<binding>', 'name of the binding, or agent/NAME')
    .option(
      '--to, --to-revision <n>',
      'the revision, or the AgentVersion of an agent (default: the one before; for a binding also a revision of another policy)',
    );
  const asked = withConfirm(command, 'do not ask for confirmation (agents only: a rollback of a binding does not ask)');
  source
    .addWriteOptions(withDryRun(withWait(withOutput(withResourceOptions(asked, source)))))
    .action((word: string, options: RollbackOptions) => rollback(source, word, options));
}

async function rollback(source: ResourceSource, word: string, options: RollbackOptions): Promise<void> {
  const { kind, name } = rollbackTarget(word);
  const toRevision = kind === kinds.agent ? undefined : revisionOf(options);
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  if (kind === kinds.agent) return await changeAgent(resources, name, rolledBackTo(options.toRevision), options);
  const { client } = resources;
  const { program } = source;
  const binding = await readResource<ModelBinding>(client, kinds.modelBinding, name);
  const target =
    toRevision === undefined
      ? await appliedBefore(client, binding, program)
      : { name: policyOf(binding, toRevision, program), revision: toRevision };
  // A binding whose application failed immediately still serves the previous revision and requests another revision.
  await checkApplicable(client, binding, target);
  const policyRef = { name: target.name, revision: target.revision };
  await applyToBindings(resources, [{ binding, guardrail: { mode: 'Policy', policyRef } }], options);
}

/** @throws CliError usage for anything but a number */
function revisionOf({ toRevision }: RollbackOptions): number | undefined {
  if (toRevision === undefined) return undefined;
  try {
    return parseRevisionNumber(toRevision);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    const sentence = `--to, --to-revision of "rollback" cannot be ${JSON.stringify(toRevision)} for a binding. ${cause.message}`;
    throw new CliError('usage', sentence, { cause });
  }
}

/** A word without a kind names a binding. @throws CliError usage */
export function rollbackTarget(word: string): ReturnType<typeof readKindAndName> {
  if (!word.includes('/')) return { kind: kinds.modelBinding, name: word };
  const target = readKindAndName(word);
  if (target.kind === kinds.modelBinding || target.kind === kinds.agent) return target;
  throw new CliError(
    'usage',
    `The kind ${target.kind.kind} has no rollback: give the name of a binding, or agent/NAME for an Agent.`,
  );
}

/** @throws CliError usage for a binding without a policy: a number alone names no revision */
function policyOf({ metadata, spec, status }: Stored<ModelBinding>, revision: number, program: string): string {
  if (spec.guardrail.mode === 'Policy') return spec.guardrail.policyRef.name;
  const wasGuarded = status?.applications?.some(
    ({ outcome, policyId }) => outcome === 'Applied' && policyId !== undefined,
  );
  const back = wasGuarded === true ? 'leave out --to to return to the one before, or ' : '';
  const beginning = `The ModelBinding ${metadata.name} has no policy: ${back}`;
  throw withoutPolicy(beginning, `${metadata.name} ${revision}`, program);
}

/** A rollback cannot choose a policy for a binding without one, so that both refusals name the command that can. */
function withoutPolicy(beginning: string, words: string, program: string): CliError {
  const remedy = `name one with "${program} apply-revision ${words} --policy POLICY"`;
  return new CliError('usage', `${beginning}${remedy}; "${program} get guardrailpolicies" lists them.`);
}

/**
 * The revision, of any policy, that was applied last before the revision that the binding names: the records of the
 * binding begin with the newest. A revision whose text was removed is never applied again. An unbound binding returns
 * to the policy that guarded it.
 * @throws CliError usage if the records hold no other revision
 */
async function appliedBefore(
  client: KubeClient,
  { metadata, spec, status }: Stored<ModelBinding>,
  program: string,
): Promise<RevisionRef> {
  const wanted = spec.guardrail.mode === 'Policy' ? spec.guardrail.policyRef : undefined;
  for (const { outcome, policyId, policyRevision } of status?.applications ?? []) {
    if (outcome !== 'Applied' || policyId === undefined || policyRevision === undefined) continue;
    const recorded = await readRevisionOfId(client, policyId, policyRevision);
    if (recorded === undefined || isPurged(recorded)) continue;
    const { policy, number } = recorded.spec;
    if (policy.name !== wanted?.name || number !== wanted.revision) {
      return { name: policy.name, revision: number, policyId };
    }
  }
  if (wanted === undefined) {
    const beginning = `The ModelBinding ${metadata.name} has no policy and no recorded application of one: `;
    throw withoutPolicy(beginning, `${metadata.name} N`, program);
  }
  throw new CliError(
    'usage',
    `The ModelBinding ${metadata.name} has no recorded application of another revision that is still stored. To apply another revision of ${wanted.name}, name it with --to N; ${typedCommand(`history ${wanted.name}`)} lists them.`,
  );
}
