import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';
import { openPlatform } from '../platform/standalone-source.ts';
import { readResource } from '../resources/read-resource.ts';
import type { ManagementCommandOptions, OpenedManagement } from './management-options.ts';
import { isId } from './resolve-policy.ts';

/**
 * The modelId of a word: an id, or on this machine the name of a binding. The API knows ids only.
 * @throws CliError usage, not_found
 */
export async function resolveModel(
  { platform }: OpenedManagement,
  word: string,
  { requestTimeout }: ManagementCommandOptions,
): Promise<string> {
  if (isId(word)) return word.toLowerCase();
  if (platform === undefined) {
    throw new CliError(
      'usage',
      `${JSON.stringify(word)} is not a modelId: give the UUID in the label ${idLabel} of the binding.`,
    );
  }
  await using resources = openPlatform(platform, { requestTimeout });
  const binding = await readResource<ModelBinding>(resources.client, kinds.modelBinding, word);
  const id = binding.metadata.labels?.[idLabel];
  if (id !== undefined) return id;
  throw new CliError('not_found', `The ModelBinding ${word} has no id yet: try again in a moment.`);
}

/**
 * The current content profile of a model. The API does not return it, so that it is read from the binding on this
 * machine.
 * @throws CliError usage with --server, not_found
 */
export async function contentProfileOf(
  { platform }: OpenedManagement,
  modelId: string,
  { requestTimeout }: ManagementCommandOptions,
): Promise<string> {
  if (platform === undefined) {
    throw new CliError(
      'usage',
      'The API does not return the content profile of the model: name it with --profile, so that it is not changed by accident.',
    );
  }
  await using resources = openPlatform(platform, { requestTimeout });
  const { items } = await resources.client.list<ModelBinding>(kinds.modelBinding, {
    labelSelector: `${idLabel}=${modelId}`,
  });
  const [binding] = items;
  if (binding === undefined) throw new CliError('not_found', `There is no ModelBinding of the id ${modelId}.`);
  return binding.spec.contentProfile;
}
