import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { writeWarning } from '../output/write.ts';
import type { OpenedResources, SourceOptions } from '../resources/resource-source.ts';
import type { ManagementClient } from './client.ts';
import { createCommandWriter } from './command-writer.ts';
import { createDryRunWriter } from './dry-run-writer.ts';
import { ManagementApiError } from './management-error.ts';
import { openManagement } from './management-options.ts';
import { policyOfManifest } from './policy-of-manifest.ts';
import { openResourceReader } from './resource-reader.ts';

/** The resources of a management API: read by name, and written by its commands. */
export async function openApi(options: SourceOptions): Promise<OpenedResources> {
  const { client: api, connection } = openManagement(options);
  const reader = await openResourceReader(connection);
  const { idempotencyKey, message, overrideFreeze } = options;
  const sent = {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(message === undefined ? {} : { message }),
    ...(overrideFreeze === true ? { overridesFreeze: true as const } : {}),
  };
  const commands = { api, reader, ...sent };
  const isDryRun = options.isDryRun === true;
  return {
    client: reader,
    shows: reader.shows,
    objectOf: ({ kind, resource }) =>
      kind.kind === kinds.guardrailPolicy.kind
        ? // The schema of the kind has validated the resource.
          policyOfManifest(reader, resource as GuardrailPolicy)
        : reader.get(kind, resource.metadata.name),
    writer: isDryRun ? createDryRunWriter(commands, writeWarning) : createCommandWriter(commands),
    stateOf: async ({ metadata }) => (await api.getBinding(metadata.labels?.[idLabel] ?? '')).value,
    overview: () => api.getOverview(),
    revisionDiff: (policyId, from, to) => diffOf(api, policyId, from, to),
    surroundings: async () => {
      throw new CliError(
        'usage',
        'The management API does not show processes: repeat the command with --via resources.',
      );
    },
    environment: async () => {
      throw new CliError(
        'usage',
        'The management API does not show the settings of the operator: give --providers and --limits.',
      );
    },
    explain: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/**
 * The difference from the API; undefined for versions that are too large for the API: the command line then compares
 * them itself.
 */
async function diffOf(api: ManagementClient, policyId: string, from: number, to: number): Promise<string | undefined> {
  try {
    return (await api.getRevisionDiff(policyId, from, to)).diff;
  } catch (error) {
    if (error instanceof ManagementApiError && error.code === 'diff_too_large') return undefined;
    throw error;
  }
}
