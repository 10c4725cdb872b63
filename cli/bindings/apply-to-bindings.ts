import { v7 as uuidv7 } from 'uuid';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { Guardrail, ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import type { WaitOption } from '../options/wait-option.ts';
import { formatOf, isForPeople, type OutputOptions } from '../output/format.ts';
import { writeJson, writeText, writeYaml } from '../output/write.ts';
import { waitApplied } from './wait-applied.ts';

type DesiredGuardrail = { readonly binding: Stored<ModelBinding>; readonly guardrail: Guardrail };

/**
 * Writes the desired revision of each binding and, with --wait, waits until each is applied. A failure does not stop
 * the others; the first failure decides the exit code.
 */
export async function applyToBindings(
  client: KubeClient,
  wanted: readonly DesiredGuardrail[],
  options: OutputOptions & WaitOption,
): Promise<void> {
  const format = formatOf(options);
  const say = (text: string): void => {
    if (isForPeople(format)) writeText(text);
  };
  const failures: unknown[] = [];
  const written: Stored<ModelBinding>[] = [];
  for (const { binding, guardrail } of wanted) {
    await attempt(failures, async () => {
      written.push(await writeApplication(client, binding, guardrail));
      say(`ModelBinding ${binding.metadata.name} set to ${desiredText(binding, guardrail)}`);
    });
  }
  for (const binding of written) {
    const { wait } = options;
    if (wait === undefined) break;
    await attempt(failures, async () => {
      await waitApplied(client, binding, wait);
      say(`ModelBinding ${binding.metadata.name} is applied`);
    });
  }
  if (failures.length > 0) throw together(failures);
  const value = wanted.length === 1 ? written[0] : written;
  if (format === 'json') writeJson(value);
  if (format === 'yaml') writeYaml(value);
}

async function attempt(failures: unknown[], act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    // These failures concern the server, not one binding, so they end the command.
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

/**
 * Starts an application: writes the guardrail and a new token.
 * @throws CliError conflict if the spec of the binding has changed since it was read, or the binding is being deleted
 */
export async function writeApplication(
  client: KubeClient,
  binding: Stored<ModelBinding>,
  guardrail: Guardrail,
): Promise<Stored<ModelBinding>> {
  const { name, deletionTimestamp } = binding.metadata;
  if (deletionTimestamp !== undefined) {
    throw new CliError('conflict', `The ModelBinding ${name} is being deleted: nothing can be applied to it.`);
  }
  const spec = { ...binding.spec, guardrail, apply: uuidv7() };
  try {
    return await applyDesired(client, kinds.modelBinding, binding, { spec }, 'generation');
  } catch (cause) {
    if (!isKubeError(cause, 'precondition_failed', 'conflict')) throw cause;
    throw new CliError(
      'conflict',
      `The ModelBinding ${name} was changed concurrently: read it again and repeat the command.`,
      { cause },
    );
  }
}

/** The new desired guardrail of a binding in words. */
function desiredText({ spec }: Stored<ModelBinding>, guardrail: Guardrail): string {
  if (guardrail.mode === 'None') return 'UNGUARDED';
  const { name, revision } = guardrail.policyRef;
  const isOther = spec.guardrail.mode === 'None' || spec.guardrail.policyRef.name !== name;
  return isOther ? `revision ${revision} of ${name}` : `revision ${revision}`;
}
