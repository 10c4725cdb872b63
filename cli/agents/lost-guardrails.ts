import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import {
  type AgentText,
  begunVersions,
  checkedTexts,
  lostTexts,
  textsLostByVersion,
} from '#resources/agent-protection';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';

type Wanted = Pick<Agent['spec'], 'version' | 'canary'>;
type Version = Pick<AgentVersion, 'spec'>;

/**
 * The effects of a change of an Agent, as sentences for the confirmation prompt: for each version that begins to serve
 * callers, the texts that a policy checks now and that no policy would check afterwards.
 * @param made versions that the same command creates, by name
 */
export async function lostGuardrails(
  client: Pick<KubeClient, 'get'>,
  { metadata, spec, status }: Stored<Agent>,
  wanted: Wanted,
  made: ReadonlyMap<string, Version> = new Map(),
): Promise<readonly string[]> {
  const present = await client.get<AgentVersion>(kinds.agentVersion, spec.version);
  const isChecked = (text: AgentText): boolean =>
    (status?.checked ?? []).includes(text) || (present !== undefined && checkedTexts(present).includes(text));
  const checked = (['Input', 'Output'] as const).filter(isChecked);
  const effects: string[] = [];
  for (const name of begunVersions(spec, wanted)) {
    const next = made.get(name) ?? (await client.get<AgentVersion>(kinds.agentVersion, name));
    const lost = next === undefined ? undefined : lostTexts(checked, next);
    if (lost === undefined) continue;
    effects.push(
      `Agent ${metadata.name} would serve the version ${name}, which leaves ${lost} UNGUARDED. The version ` +
        `${status?.served?.version ?? spec.version} has it checked.`,
    );
  }
  return effects;
}

/** The effect of a new version that its Agent names already, as a sentence for the confirmation prompt. */
export function versionEffect(version: AgentVersion, agent: Stored<Agent>): string | undefined {
  const lost = textsLostByVersion(version, agent);
  if (lost === undefined) return undefined;
  return (
    `Agent ${agent.metadata.name} names the version ${version.metadata.name}, which leaves ${lost} UNGUARDED. The ` +
    `version ${agent.status?.served?.version ?? agent.spec.version} has it checked.`
  );
}
