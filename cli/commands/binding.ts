import { type Command, Option } from 'commander';
import type { BindingRead, BindingWrite } from '#contracts/management';
import { contentProfiles, currentProfile } from '#contracts/profiles';
import { CliError } from '../errors/cli-error.ts';
import { finishOperation } from '../management/finish-operation.ts';
import { type IdempotencyOption, keyOf, withIdempotencyKey } from '../management/idempotency-option.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { contentProfileOf, resolveModel } from '../management/resolve-model.ts';
import { resolvePolicy } from '../management/resolve-policy.ts';
import { bindingText } from '../management/texts.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { type WaitOption, withWait } from '../options/wait-option.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';

type GetOptions = ManagementCommandOptions & OutputOptions;
type ChangeOptions = GetOptions & WaitOption & IdempotencyOption & { readonly profile?: string };
type RollbackOptions = ChangeOptions & { readonly toRevision?: number };

const which = 'modelId, or the name of the binding on this machine';

export function addBinding(program: Command): void {
  const binding = program
    .command('binding')
    .description('show and change the guardrail of a model through the management API');
  withOutput(withManagementOptions(binding.command('get')))
    .description('show the desired and the current guardrail of a model')
    .argument('<model-binding>', which)
    .action(get);
  change(binding, 'apply', 'apply a revision of a policy to a model', 'content profile (default: the newest)')
    .argument('<guardrail-policy>', 'id or name of the policy')
    .argument('[revision]', 'the revision (default: the latest)', parseRevisionNumber)
    .action(apply);
  withConfirm(
    change(binding, 'unbind', 'remove the guardrail of a model: its requests and answers are not checked any more'),
  ).action(unbind);
  change(binding, 'rollback', 'apply an earlier revision of its policy to a model')
    .option(
      '--to, --to-revision <revision>',
      'the revision (default: the one that serves if it is another one, else the previous number)',
      parseRevisionNumber,
    )
    .action(rollback);
}

function change(
  binding: Command,
  name: string,
  description: string,
  about = 'content profile (default: that of the model)',
): Command {
  const command = binding.command(name).description(description).argument('<model-binding>', which);
  const profile = new Option('--profile <profile>', about).choices(contentProfiles);
  return withIdempotencyKey(withWait(withOutput(withManagementOptions(command)))).addOption(profile);
}

async function get(word: string, options: GetOptions): Promise<void> {
  const opened = openManagement(options);
  const { value } = await opened.client.getBinding(await resolveModel(opened, word, options));
  writeResult(formatOf(options), value, () => bindingText(value));
}

async function apply(word: string, policy: string, asked: number | undefined, options: ChangeOptions): Promise<void> {
  await write(word, options, async (_, { client }) => {
    const policyId = await resolvePolicy(client, policy);
    const policyRevision = asked ?? (await client.getPolicy(policyId)).value.revision;
    return { policyId, policyRevision, contentProfile: options.profile ?? currentProfile };
  });
}

async function unbind(word: string, options: ChangeOptions & ConfirmOption): Promise<void> {
  await write(word, options, async (current, opened) => {
    const contentProfile = await keptProfile(current, opened, options);
    await confirm(unbindEffects(word, current), options);
    return { policyId: null, policyRevision: null, contentProfile };
  });
}

/** The effects to confirm; empty if the model is already unguarded. */
function unbindEffects(word: string, { binding, observation: { serving } }: BindingRead): readonly string[] {
  const guard = [serving, binding].find((one) => typeof one?.policyRevision === 'number');
  if (guard === undefined || guard === null) return [];
  return [
    `The model ${word} would become UNGUARDED: its requests and answers would not be checked. ` +
      `Now revision ${guard.policyRevision} of the policy ${guard.policyId ?? '(unknown)'} guards it.`,
  ];
}

async function rollback(word: string, options: RollbackOptions): Promise<void> {
  await write(word, options, async (current, opened) => ({
    ...earlierThan(current, options.toRevision),
    contentProfile: await keptProfile(current, opened, options),
  }));
}

async function keptProfile({ modelId }: BindingRead, opened: Opened, options: ChangeOptions): Promise<string> {
  return options.profile ?? (await contentProfileOf(opened, modelId, options));
}

/** While the desired revision is not applied, the earlier one is what serves. Otherwise it is the previous number. */
function earlierThan(
  { modelId, binding, observation: { serving } }: BindingRead,
  asked: number | undefined,
): { readonly policyId: string; readonly policyRevision: number } {
  if (binding === null || binding.policyId === null || binding.policyRevision === null) {
    throw new CliError('usage', `The model ${modelId} has no policy, so it has no earlier revision.`);
  }
  const { policyId, policyRevision } = binding;
  if (asked !== undefined) return { policyId, policyRevision: asked };
  const isOther = serving?.policyId !== policyId || serving.policyRevision !== policyRevision;
  if (isOther && typeof serving?.policyId === 'string' && serving.policyRevision !== null) {
    return { policyId: serving.policyId, policyRevision: serving.policyRevision };
  }
  if (policyRevision > 1) return { policyId, policyRevision: policyRevision - 1 };
  throw new CliError('usage', `The model ${modelId} is already at revision 1: there is no earlier one.`);
}

type Opened = ReturnType<typeof openManagement>;

/** Reads the binding and writes with its ETag, so that a concurrent change makes the command fail. */
async function write(
  word: string,
  options: ChangeOptions,
  decide: (current: BindingRead, opened: Opened) => Promise<BindingWrite>,
): Promise<void> {
  const opened = openManagement(options);
  const { client } = opened;
  const { value: current, etag } = await client.getBinding(await resolveModel(opened, word, options));
  const wanted = await decide(current, opened);
  const accepted = await client.replaceBinding(current.modelId, wanted, { etag, ...keyOf(options) });
  await finishOperation(client, accepted, options);
}
