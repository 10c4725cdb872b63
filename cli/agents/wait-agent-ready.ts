import { setTimeout as delay } from 'node:timers/promises';
import { agentVersionRow } from '#diagnosis/agent-version-row';
import type { KubeClient } from '#kube/client/client';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';

const pauseMs = 200;
/** A process that ended is started again; a fault that lasts longer than this is reported. */
const faultyMs = 5_000;

/**
 * Waits until a version of an agent is ready.
 * @param onState called with a sentence for each state that the version passes through
 * @throws CliError refused with the reason if it cannot become ready, conflict if it is deleted meanwhile, timeout
 */
export async function waitAgentReady(
  client: KubeClient,
  written: Stored<AgentVersion>,
  seconds: number,
  onState: (sentence: string) => void = () => undefined,
): Promise<void> {
  const { name, uid } = written.metadata;
  const end = performance.now() + seconds * 1_000;
  let said: string | undefined;
  let faultySince: number | undefined;
  for (;;) {
    const current = await client.get<AgentVersion>(kinds.agentVersion, name);
    if (current?.metadata.uid !== uid || current.metadata.deletionTimestamp !== undefined) {
      throw new CliError('conflict', `The AgentVersion ${name} was deleted before it was ready.`);
    }
    const { state, why = '' } = agentVersionRow(current);
    if (state === 'ready') return;
    if (why !== said) onState(`AgentVersion ${name} is ${state}: ${why}`);
    said = why;
    const now = performance.now();
    faultySince = state === 'faulty' ? (faultySince ?? now) : undefined;
    if (faultySince !== undefined && now - faultySince > faultyMs) {
      throw new CliError('refused', `The AgentVersion ${name} is not ready: ${why}`);
    }
    if (now > end) throw new CliError('timeout', `The AgentVersion ${name} is not ready after ${seconds} s: ${why}`);
    await delay(pauseMs);
  }
}
