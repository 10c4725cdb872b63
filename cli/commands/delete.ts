import type { Command } from 'commander';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { isGuarding } from '#resources/protection';
import { CliError } from '../errors/cli-error.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { bindingsOfPolicy } from '../resources/policy-references.ts';
import { readResource } from '../resources/read-resource.ts';
import { resourceKind } from '../resources/resource-kind.ts';
import type { OpenedResources, ResourceSource } from '../resources/resource-source.ts';

type DeleteOptions = ResourceCommandOptions & OutputOptions & ConfirmOption;

export function addDelete(program: Command, source: ResourceSource): void {
  const command = program
    .command('delete')
    .description('delete one policy or binding; asks first when a binding uses the policy or guards a model')
    .argument('<kind>', 'guardrailpolicy or modelbinding')
    .argument('<name>', 'name of the resource');
  withConfirm(withOutput(withResourceOptions(command, source))).action(
    (word: string, name: string, options: DeleteOptions) => remove(source, word, name, options),
  );
}

async function remove(source: ResourceSource, word: string, name: string, options: DeleteOptions): Promise<void> {
  const kind = resourceKind(word);
  if (kind.internal) {
    throw new CliError(
      'usage',
      `A ${kind.kind} is created and deleted by the platform only. Delete guardrailpolicies or modelbindings.`,
    );
  }
  await using resources = await source.open(options);
  const { client } = resources;
  const found = await readResource(client, kind, name);
  const users = isPolicy(found) ? await usersOf(resources, found) : [];
  const effects = users.length > 0 ? [policyEffect(name, users)] : lostService(found);
  await confirm(effects, options);
  const { uid } = found.metadata;
  if (effects.length > 0) await deleteConfirmed(client, kind, found);
  else await client.delete(kind, name, { uid });
  const left = await client.get(kind, name);
  const isDeleting = left !== undefined && left.metadata.uid === uid;
  const what = `${kind.kind} ${name}`;
  writeResult(formatOf(options), { kind: kind.kind, name, deleted: !isDeleting, usedBy: users }, () => {
    if (!isDeleting) return `${what} is deleted.`;
    if (users.length > 0) return `${what} is being deleted. It stays until nothing refers to it: ${listed(users)}.`;
    return `${what} is being deleted.`;
  });
}

function isPolicy(found: Stored<Resource>): found is Stored<GuardrailPolicy> {
  return found.kind === kinds.guardrailPolicy.kind;
}

/** Asks for confirmation, except for resources whose deletion was already accepted. */
async function usersOf({ client }: OpenedResources, policy: Stored<GuardrailPolicy>): Promise<readonly string[]> {
  return policy.metadata.deletionTimestamp === undefined ? bindingsOfPolicy(client, policy) : [];
}

/** One sentence for a binding that guards a model now. */
function lostService(found: Stored<Resource>): readonly string[] {
  if (!isBinding(found) || !isGuarding(found) || found.metadata.deletionTimestamp !== undefined) return [];
  const { metadata, spec } = found;
  return [
    `The ModelBinding ${metadata.name} guards the model ${spec.model.alias}, which would not be served any more.`,
  ];
}

function isBinding(found: Stored<Resource>): found is Stored<ModelBinding> {
  return found.kind === kinds.modelBinding.kind;
}

function policyEffect(name: string, users: readonly string[]): string {
  return (
    `The GuardrailPolicy ${name} is used by ${listed(users)}. Until nothing refers to the policy it stays, and it can be ` +
    'neither newly applied nor rolled back to. Applying it again takes the deletion back.'
  );
}

function listed(users: readonly string[]): string {
  const shown = users.slice(0, 5).map((user) => `ModelBinding ${user}`);
  return [...shown, ...(users.length > 5 ? [`${users.length - 5} more`] : [])].join(', ');
}
