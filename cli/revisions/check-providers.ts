import { assembleBundle } from '#contracts/assemble-bundle';
import { definitionSchema } from '#contracts/policy';
import { isKubeError } from '#kube/client/kube-error';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';
import type { JudgedEnvironment, OpenedResources } from '../resources/resource-source.ts';
import type { DesiredGuardrail } from '../resources/resource-writer.ts';
import { readRevision } from './read-revisions.ts';

/**
 * Checks, before a binding is written, that the installation approves the providers of the revision: the operator would
 * refuse the application. The settings are read once. If they cannot be read, only the operator checks the providers.
 * @returns a check that throws CliError refused
 */
export function createProviderCheck(
  resources: Pick<OpenedResources, 'client' | 'environment'>,
): (binding: Stored<ModelBinding>, desired: DesiredGuardrail) => Promise<void> {
  let reading: Promise<JudgedEnvironment | undefined> | undefined;
  return async ({ spec }, { guardrail, contentProfile = spec.contentProfile }) => {
    if (guardrail.mode === 'None') return;
    reading ??= readSettings(resources);
    const settings = await reading;
    if (settings === undefined) return;
    const { name, revision } = guardrail.policyRef;
    // A revision that does not exist is handled by other checks of the command, or the command waits for it.
    const recorded = await readRevision(resources.client, name, revision).catch((error: unknown) => {
      if (error instanceof CliError && error.exit === 'not_found') return undefined;
      throw error;
    });
    if (recorded === undefined) return;
    const definition = definitionSchema.parse(JSON.parse(recorded.spec.definition));
    const { policyId } = recorded.spec;
    const built = assembleBundle({ policyId, revision: String(revision), definition, contentProfile, ...settings });
    if (built.kind !== 'refused' || built.reason !== 'provider_unknown') return;
    throw new CliError(
      'refused',
      `Revision ${revision} of ${name} cannot be applied: ${built.message}. Nothing was changed.`,
    );
  };
}

/** The settings of the installation; undefined where they cannot be read, for example over the management API. */
export async function readSettings({
  environment,
}: Pick<OpenedResources, 'environment'>): Promise<JudgedEnvironment | undefined> {
  try {
    return await environment();
  } catch (error) {
    if (error instanceof CliError || isKubeError(error, 'forbidden')) return undefined;
    throw error;
  }
}
