import type { Command } from 'commander';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { CollectionResource } from '#resources/collection';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { isGuarding, type PolicyUser } from '#resources/protection';
import { afterChange } from '../errors/after-change.ts';
import { CliError } from '../errors/cli-error.ts';
import { createRevisionFiller } from '../manifests/omitted-revision.ts';
import { type ReadManifest, readResources, refuseOtherNamespaces } from '../manifests/read-resources.ts';
import { readAllSources } from '../manifests/read-sources.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { type DryRunOption, dryRunSuffix, withDryRun } from '../options/dry-run-option.ts';
import { type FileOption, withFiles } from '../options/file-option.ts';
import { withSelector } from '../options/list-options.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { formatOf, isForPeople, type OutputOptions, withOutput, writeResult, writeValue } from '../output/format.ts';
import { ownerRemedy } from '../resources/owner-remedy.ts';
import { readPolicyUsers } from '../resources/policy-references.ts';
import type { OpenedResources, ResourceSource } from '../resources/resource-source.ts';
import { readSelected, type SelectedKind } from '../selection/read-selected.ts';
import { readSelection, type Selection } from '../selection/select.ts';

type DeleteOptions = ResourceCommandOptions &
  OutputOptions &
  ConfirmOption &
  FileOption &
  DryRunOption & { readonly selector?: string; readonly ignoreNotFound?: boolean };

export function addDelete(program: Command, source: ResourceSource): void {
  const command = program
    .command('delete')
    .description(
      'delete policies, bindings, collections, agents or versions of agents; asks first when something uses a policy, a binding guards a model, or documents would be deleted',
    )
    .argument('[kind]', 'policy, binding, collection, agent or version of an agent, or KIND/NAME')
    .argument('[names...]', 'names of resources');
  withSelector(withFiles(withDryRun(withConfirm(withOutput(withResourceOptions(command, source))))))
    .option('--ignore-not-found', 'succeed if a resource does not exist')
    .action((word: string | undefined, names: readonly string[], options: DeleteOptions) =>
      remove(source, word === undefined ? [] : [word, ...names], options),
    );
}

/** The effects of a deletion. */
type Deletion = {
  readonly kind: Kind;
  readonly found: Stored<Resource>;
  readonly users: readonly PolicyUser[];
  readonly effects: readonly string[];
};

/**
 * All resources are read and all confirmations requested before the first deletion. Bindings are deleted first: they
 * use the policies.
 */
async function remove(source: ResourceSource, words: readonly string[], options: DeleteOptions): Promise<void> {
  const { selection, manifests } = await readDeletion(words, options);
  const selectedKinds = selection.by === 'kind' ? selection.kinds : selection.targets.map(({ kind }) => kind);
  const internal = selectedKinds.find((kind) => kind.internal);
  if (internal !== undefined) {
    const named = selection.by === 'name' ? selection.targets.filter(({ kind }) => kind === internal) : [];
    throw new CliError(
      'usage',
      `A ${internal.kind} is created and deleted by the platform only.${await ownerRemedy(source, named, options)} You can delete guardrailpolicies, modelbindings, collections, agentversions and agents; what the platform created for them is deleted with them.`,
    );
  }
  await using resources = await source.open({ ...options, isDryRun: options.dryRun === 'server' });
  refuseOtherNamespaces(manifests, resources.client.namespace);
  const deletions: Deletion[] = [];
  for (const { kind, found } of await readDeleted(resources, selection, options)) {
    for (const one of found) deletions.push(await deletionOf(resources, kind, one));
  }
  const bindingsFirst = deletions.toSorted((a, b) => Number(isPolicy(a.found)) - Number(isPolicy(b.found)));
  if (options.dryRun === undefined) {
    await confirm(
      bindingsFirst.flatMap(({ effects }) => effects),
      options,
    );
  }
  if (bindingsFirst.length === 0) return writeResult(formatOf(options), [], () => 'Nothing to delete.');
  await carryOutAll(resources, bindingsFirst, {
    options,
    isOne: selection.by === 'name' && bindingsFirst.length === 1,
  });
}

/**
 * A failure ends the command. Resources that were deleted before it are reported: as text immediately, as JSON or YAML
 * at the end.
 * @throws the failure; after a deletion refused instead of usage, because usage means that nothing was changed
 */
async function carryOutAll(
  resources: OpenedResources,
  deletions: readonly Deletion[],
  { options, isOne }: { readonly options: DeleteOptions; readonly isOne: boolean },
): Promise<void> {
  const format = formatOf(options);
  const results: DeletionResult[] = [];
  try {
    for (const deletion of deletions) {
      const result = await carryOut(resources, deletion, options);
      results.push(result);
      if (isForPeople(format)) writeResult(format, result, () => resultText(result, options));
    }
  } catch (error) {
    if (!isForPeople(format) && results.length > 0) writeValue(format, results);
    throw results.length > 0 && options.dryRun === undefined ? afterChange(error) : error;
  }
  if (!isForPeople(format)) writeValue(format, isOne ? results[0] : results);
}

/** The resources that the words name, or those of the files. A kind without names needs a selector. */
async function readDeletion(
  words: readonly string[],
  { filename, selector }: DeleteOptions,
): Promise<{ readonly selection: Selection; readonly manifests: readonly ReadManifest[] }> {
  if (words.length > 0 === (filename !== undefined)) {
    throw new CliError(
      'usage',
      'delete takes either resources, such as policy NAME, or files (-f): give one of the two.',
    );
  }
  if (filename !== undefined) {
    const { complete } = createRevisionFiller();
    const manifests = readResources(await readAllSources(filename), { complete });
    refuseSelector(selector);
    const targets = manifests.map(({ kind, resource }) => ({ kind, name: resource.metadata.name }));
    return { selection: { by: 'name', targets }, manifests };
  }
  const selection = readSelection(words);
  if (selection.by === 'name') refuseSelector(selector);
  if (selection.by === 'kind' && selector === undefined) {
    throw new CliError('usage', 'delete needs names, or labels (-l): a whole kind cannot be deleted in one command.');
  }
  return { selection, manifests: [] };
}

/** Labels next to names could be mistaken for a filter of the deletion. */
function refuseSelector(selector: string | undefined): void {
  if (selector === undefined) return;
  throw new CliError('usage', 'delete takes either names or files, or labels (-l) of a kind: give one of the two.');
}

async function readDeleted(
  resources: OpenedResources,
  selection: Selection,
  { selector, ignoreNotFound = false }: DeleteOptions,
): Promise<readonly SelectedKind[]> {
  const limits = selector === undefined ? {} : { selector };
  if (selection.by === 'kind' || !ignoreNotFound) return readSelected(resources, selection, limits);
  const found: SelectedKind[] = [];
  for (const { kind, name } of selection.targets) {
    const one = await resources.client.get(kind, name);
    if (one !== undefined) found.push({ kind, found: [one] });
  }
  return found;
}

async function deletionOf(resources: OpenedResources, kind: Kind, found: Stored<Resource>): Promise<Deletion> {
  const users = isPolicy(found) ? await usersOf(resources, found) : [];
  const effects =
    users.length > 0 ? [policyEffect(found.metadata.name, users)] : [...lostService(found), ...lostDocuments(found)];
  return { kind, found, users, effects };
}

type DeletionResult = {
  readonly kind: string;
  readonly name: string;
  readonly deleted: boolean;
  readonly usedBy: readonly PolicyUser[];
};

async function carryOut(
  { client }: OpenedResources,
  { kind, found, users, effects }: Deletion,
  { dryRun }: DeleteOptions,
): Promise<DeletionResult> {
  const { name, uid } = found.metadata;
  const result = { kind: kind.kind, name, usedBy: users };
  if (dryRun === 'client') return { ...result, deleted: users.length === 0 };
  // A dry run does not store the confirmation, so the server would refuse the deletion.
  if (effects.length === 0 || isCollection(found)) await client.delete(kind, name, { uid });
  else if (dryRun === undefined) await deleteConfirmed(client, kind, found);
  if (dryRun === 'server') return { ...result, deleted: users.length === 0 };
  const left = await client.get(kind, name);
  return { ...result, deleted: left === undefined || left.metadata.uid !== uid };
}

function resultText({ kind, name, deleted, usedBy }: DeletionResult, options: DeleteOptions): string {
  const what = `${kind} ${name}`;
  if (deleted) return `${what} is deleted${dryRunSuffix(options)}.`;
  if (options.dryRun !== undefined) return `${what} is marked for deletion${dryRunSuffix(options)}: ${listed(usedBy)}.`;
  if (usedBy.length > 0) return `${what} is being deleted. It is kept while these refer to it: ${listed(usedBy)}.`;
  return `${what} is being deleted.`;
}

function isPolicy(found: Stored<Resource>): found is Stored<GuardrailPolicy> {
  return found.kind === kinds.guardrailPolicy.kind;
}

/** Asks for confirmation, except for resources whose deletion was already accepted. */
async function usersOf({ client }: OpenedResources, policy: Stored<GuardrailPolicy>): Promise<readonly PolicyUser[]> {
  return policy.metadata.deletionTimestamp === undefined ? readPolicyUsers(client, policy) : [];
}

/** One sentence if the binding guards a model now. */
function lostService(found: Stored<Resource>): readonly string[] {
  if (!isBinding(found) || !isGuarding(found) || found.metadata.deletionTimestamp !== undefined) return [];
  const { metadata, spec } = found;
  return [`The ModelBinding ${metadata.name} guards the model ${spec.model.alias}, which would no longer be served.`];
}

/** One sentence if the documents of the collection are deleted together with its resource. */
function lostDocuments(found: Stored<Resource>): readonly string[] {
  if (!isCollection(found) || found.metadata.deletionTimestamp !== undefined) return [];
  const { metadata, spec, status } = found;
  if (spec.deletionPolicy === 'Retain' || (status?.documents ?? 0) === 0) return [];
  return [
    `The Collection ${metadata.name} is deleted with its documents (${status?.documents}); with the deletionPolicy Retain ` +
      'they stay.',
  ];
}

function isCollection(found: Stored<Resource>): found is Stored<CollectionResource> {
  return found.kind === kinds.collection.kind;
}

function isBinding(found: Stored<Resource>): found is Stored<ModelBinding> {
  return found.kind === kinds.modelBinding.kind;
}

function policyEffect(name: string, users: readonly PolicyUser[]): string {
  return (
    `The GuardrailPolicy ${name} is used by ${listed(users)}. It is kept until nothing refers to it, and meanwhile it can be ` +
    'neither newly applied nor rolled back to. Applying it again cancels the deletion.'
  );
}

function listed(users: readonly PolicyUser[]): string {
  const shown = users
    .slice(0, 5)
    .map(({ kind, name }) => (kind === 'ServedPolicy' ? `served policy ${name}` : `${kind} ${name}`));
  return [...shown, ...(users.length > 5 ? [`${users.length - 5} more`] : [])].join(', ');
}
