import { isKubeError } from '#kube/client/kube-error';
import type { Stored } from '#resources/metadata';
import type { Guardrail, ModelBinding } from '#resources/model-binding';
import { afterChange } from '../errors/after-change.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { refuseSharedKey } from '../management/refuse-shared-key.ts';
import { type DryRunOption, dryRunSuffix } from '../options/dry-run-option.ts';
import type { WaitOption } from '../options/wait-option.ts';
import { formatOf, isForPeople, type OutputOptions, waitProgressOn, writeValue } from '../output/format.ts';
import { writeText } from '../output/write.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { type DesiredGuardrail, refuseDeleting } from '../resources/resource-writer.ts';
import { createProviderCheck } from '../revisions/check-providers.ts';
import { waitApplied } from './wait-applied.ts';

type DesiredApplication = DesiredGuardrail & { readonly binding: Stored<ModelBinding> };

/**
 * Writes the desired revision of each binding whose providers are approved and, with --wait, waits until each binding
 * is applied. A dry run does not wait. A failure does not stop the other bindings; the first failure decides the exit
 * code.
 * @throws the failures; after a change refused instead of usage, because usage means that nothing was changed
 */
export async function applyToBindings(
  { client, writer, environment }: Pick<OpenedResources, 'client' | 'writer' | 'environment'>,
  wanted: readonly DesiredApplication[],
  options: OutputOptions & WaitOption & DryRunOption & { readonly idempotencyKey?: string },
): Promise<void> {
  refuseSharedKey(options, wanted.length);
  const format = formatOf(options);
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  const checkProviders = createProviderCheck({ client, environment });
  const failures: unknown[] = [];
  const written: Stored<ModelBinding>[] = [];
  try {
    for (const { binding, ...desired } of wanted) {
      await attempt(failures, async () => {
        await checkProviders(binding, desired);
        const isSent = options.dryRun !== 'client';
        written.push(isSent ? await writer.applyToBinding(binding, desired) : asDesired(binding, desired));
        const what = desiredText(binding, desired.guardrail);
        say(`ModelBinding ${binding.metadata.name} set to ${what}${dryRunSuffix(options)}`);
      });
    }
    for (const binding of written) {
      const { wait } = options;
      if (wait === undefined || options.dryRun !== undefined) break;
      await attempt(failures, async () => {
        await waitApplied(client, binding, wait, waitProgressOn(process.stderr, format));
        say(`ModelBinding ${binding.metadata.name} is applied`);
      });
    }
    if (failures.length > 0) throw together(failures);
  } catch (error) {
    // The output lists the resources that were written before the failure.
    if (!isForPeople(format) && written.length > 0) writeValue(format, wanted.length === 1 ? written[0] : written);
    throw written.length > 0 && options.dryRun === undefined ? afterChange(error) : error;
  }
  if (!isForPeople(format)) writeValue(format, wanted.length === 1 ? written[0] : written);
}

/** The binding that would be written, without its new token. */
function asDesired(
  binding: Stored<ModelBinding>,
  { guardrail, contentProfile = binding.spec.contentProfile }: DesiredGuardrail,
): Stored<ModelBinding> {
  refuseDeleting(binding);
  return { ...binding, spec: { ...binding.spec, guardrail, contentProfile } };
}

async function attempt(failures: unknown[], act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    // These failures concern the server, not a single binding, so that they end the command.
    if (isKubeError(error, 'network', 'unauthenticated', 'forbidden', 'unavailable')) throw error;
    failures.push(error);
  }
}

function together(failures: readonly unknown[]): unknown {
  const [first, ...others] = failures;
  if (others.length === 0) return first;
  const described = failures.map(describeError);
  const message = described.map((failure) => failure.message).join('\n');
  return new CliError(described[0]?.exit ?? 'failed', message, { cause: first });
}

/** The new desired guardrail of a binding in words. */
function desiredText({ spec }: Stored<ModelBinding>, guardrail: Guardrail): string {
  if (guardrail.mode === 'None') return 'UNGUARDED';
  const { name, revision } = guardrail.policyRef;
  const isOther = spec.guardrail.mode === 'None' || spec.guardrail.policyRef.name !== name;
  return isOther ? `revision ${revision} of ${name}` : `revision ${revision}`;
}
