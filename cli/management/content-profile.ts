import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';
import { openPlatform } from '../platform/standalone-source.ts';
import type { ManagementOptions, OpenedManagement } from './management-options.ts';

/**
 * The content profile that a model has, for a change that is to keep it. No answer of the API names it; on this machine
 * the binding does.
 * @throws CliError usage where only the API can be asked, not_found
 */
export async function contentProfileOf(
  { platform }: OpenedManagement,
  modelId: string,
  { requestTimeout }: ManagementOptions,
): Promise<string> {
  if (platform === undefined) {
    throw new CliError(
      'usage',
      'The API does not say which content profile the model has: name it with --profile, or it would be changed unseen.',
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
