import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import { openTokenFile } from '#kit/http/token-file';
import { createClient, type KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { applicationOutcome } from '#resources/binding-state';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';

/** The binding of examples/guarded-chat. */
const exampleBinding = 'guarded-echo';
const lookEveryMs = 100;
/** Time after which the reason for waiting is printed, milliseconds. */
const explainAfterMs = 15_000;

type Served = {
  /** URL of the resource server. */
  readonly api: string;
  /** URLs of /readyz of the gateways. */
  readonly admins: readonly string[];
};

/**
 * Waits until the example binding, if there is one, is applied and every gateway is ready. Both conditions are needed:
 * on a second start the binding is still reported as applied before its runtimes are ready again.
 */
export async function waitUntilServed(
  data: DataDirectory,
  { api, admins }: Served,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await using client = createClient({ url: api, tokenFile: openTokenFile(data.apiToken), namespace: 'default' });
  const begun = performance.now();
  let explained = '';
  while (!signal.aborted) {
    const reason = (await openReason(client, data)) ?? (await unreadyReason(admins, signal));
    if (reason === undefined) return;
    if (performance.now() - begun > explainAfterMs && reason !== explained) {
      explained = reason;
      say(`still waiting: ${reason}`);
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** The reason why the example policy is not applied; undefined if it is applied, or if there is no example. */
async function openReason(client: KubeClient, data: DataDirectory): Promise<string | undefined> {
  const found = await look(client);
  if (found === 'applied') return undefined;
  if (found === 'absent' && !existsSync(join(data.apply, 'binding.yaml'))) return undefined;
  return `the binding ${exampleBinding} is not applied: ${found === 'absent' ? 'it does not exist yet' : found}`;
}

/** Why a gateway is not ready; undefined when all gateways are ready. */
async function unreadyReason(admins: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  const ready = await Promise.all(
    admins.map(async (admin) => {
      const answer = await fetch(`${admin}/readyz`, { signal }).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.status === 200;
    }),
  );
  const waiting = ready.flatMap((isReady, at) => (isReady ? [] : [`gateway-${at + 1}`]));
  return waiting.length === 0 ? undefined : `the routes of ${waiting.join(', ')} are not verified yet`;
}

/** State of the example binding: `applied`, `absent`, or the reason why it is not applied. */
async function look(client: KubeClient): Promise<string> {
  try {
    const binding = await client.get<ModelBinding>(kinds.modelBinding, exampleBinding);
    if (binding === undefined) return 'absent';
    const outcome = applicationOutcome(binding);
    if (outcome.kind !== 'applied') return outcome.message;
    return isProviderOpen(binding) ? 'no gateway has connected to its provider yet' : 'applied';
  } catch (error) {
    if (isKubeError(error)) return `the operator does not answer (${error.code})`;
    throw error;
  }
}

/** Whether the gateways have not connected to the provider yet; a disabled model has no provider. */
function isProviderOpen({ spec, status }: ModelBinding): boolean {
  const said = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  if (spec.model.state === 'Disabled' || said('Ready')?.reason === 'Disabled') return false;
  return said('ProviderReachable')?.reason === 'NotTried';
}
