import type { DryRunResult } from '#contracts/dry-run';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import type { ResourceWriter } from '../resources/resource-writer.ts';
import type { ManagementClient } from './client.ts';
import { type CommandWriterOptions, createCommandWriter } from './command-writer.ts';
import { policyOfManifest } from './policy-of-manifest.ts';

/** Ends a write where it would send its command, with the outcome of the dry run. */
class DryRunEnd extends Error {
  readonly result: DryRunResult;

  constructor(result: DryRunResult) {
    super('the command was not sent');
    this.result = result;
  }
}

/**
 * A writer that makes every check of the command line, requests a dry run from the API, and sends no command. A policy
 * that could not be applied is a warning, because it can be saved.
 * @throws CliError refused for a binding whose application would fail
 */
export function createDryRunWriter(options: CommandWriterOptions, warn: (warning: string) => void): ResourceWriter {
  const { reader } = options;
  const writer = createCommandWriter({ ...options, api: withoutCommands(options.api) });

  /** @returns undefined when the command was checked and not sent */
  async function unsent<T>({ kind, metadata }: Resource, write: () => Promise<T>): Promise<T | undefined> {
    try {
      return await write();
    } catch (end) {
      if (!(end instanceof DryRunEnd)) throw end;
      const what = `${kind} ${metadata.name}`;
      for (const warning of end.result.warnings) warn(`${what}: ${warning}`);
      for (const { code, message, details } of end.result.refusals) {
        const reasons = details.map((detail) => detail.message).join('; ');
        warn(`${what}: the command would be refused (${code}): ${reasons}. ${message}`);
      }
      const { error } = end.result;
      if (error === null) {
        for (const { check, state, message } of end.result.checks) {
          if (state === 'not_run') warn(`${what}: ${check} were not checked: ${message}`);
        }
        return undefined;
      }
      if (kind === kinds.modelBinding.kind) {
        throw new CliError('refused', `The ${what} would not be applied (${error.code}): ${error.cause}`);
      }
      warn(`${what}: its application would fail (${error.code}): ${error.cause}`);
      return undefined;
    }
  }

  return {
    async applyToBinding(binding, desired) {
      const { guardrail, contentProfile = binding.spec.contentProfile } = desired;
      const written = await unsent(binding, () => writer.applyToBinding(binding, desired));
      return written ?? { ...binding, spec: { ...binding.spec, guardrail, contentProfile } };
    },
    async setLifecycle(policy, lifecycle) {
      await unsent(policy, () => writer.setLifecycle(policy, lifecycle));
    },
    async applyManifest(manifest, base) {
      const { kind, resource } = manifest;
      const result = await unsent(resource, () => writer.applyManifest(manifest, base));
      if (result !== undefined) return result;
      const current =
        kind.kind === kinds.guardrailPolicy.kind
          ? // The schema of the kind has validated the resource.
            await policyOfManifest(reader, resource as GuardrailPolicy)
          : await reader.get(kind, resource.metadata.name);
      // No object was stored, so that fields that the server sets are missing.
      if (current === undefined) return { action: 'created', object: resource as Stored<Resource> };
      return { action: 'configured', object: { ...current, spec: resource.spec } };
    },
  };
}

function withoutCommands(api: ManagementClient): ManagementClient {
  return {
    ...api,
    async createPolicy(policy, options) {
      throw new DryRunEnd(await api.dryRunCreate(policy, options));
    },
    async replacePolicy(policyId, policy, options) {
      throw new DryRunEnd(await api.dryRunReplace(policyId, policy, options));
    },
    async replaceBinding(modelId, binding, options) {
      throw new DryRunEnd(await api.dryRunBinding(modelId, binding, options));
    },
  };
}
