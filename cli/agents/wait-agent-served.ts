import { setTimeout as delay } from 'node:timers/promises';
import { agentRow } from '#diagnosis/agent-row';
import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';

const pauseMs = 200;
/** A version that starts and a route that spreads settle within seconds; a fault that lasts longer is reported. */
const faultyMs = 10_000;

/**
 * Waits until every ready gateway replica serves the version that an Agent names.
 * @param onState called with a sentence for each state that the Agent passes through
 * @returns the Agent in the state that was awaited
 * @throws CliError refused with the reason if it cannot be served, conflict if it is changed or deleted meanwhile,
 * timeout
 */
export async function waitAgentServed(
  client: KubeClient,
  { metadata: { name, uid, generation } }: Stored<Agent>,
  seconds: number,
  onState: (sentence: string) => void = () => undefined,
): Promise<Stored<Agent>> {
  const end = performance.now() + seconds * 1_000;
  let said: string | undefined;
  let faultySince: number | undefined;
  for (;;) {
    const current = await client.get<Agent>(kinds.agent, name);
    if (current?.metadata.uid !== uid || current.metadata.deletionTimestamp !== undefined) {
      throw new CliError('conflict', `The Agent ${name} was deleted before it was served.`);
    }
    if (current.metadata.generation !== generation) {
      throw new CliError('conflict', `The Agent ${name} was changed before it was served.`);
    }
    const { state, why = '' } = agentRow(current);
    if (state === 'ready') return current;
    if (why !== said) onState(`Agent ${name} is ${state}: ${why}`);
    said = why;
    const now = performance.now();
    faultySince = state === 'faulty' ? (faultySince ?? now) : undefined;
    if (faultySince !== undefined && now - faultySince > faultyMs) {
      throw new CliError('refused', `The Agent ${name} is not served: ${why}`);
    }
    if (now > end) throw new CliError('timeout', `The Agent ${name} is not served after ${seconds} s: ${why}`);
    await delay(pauseMs);
  }
}
