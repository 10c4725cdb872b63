import type { Agent } from './agent.ts';
import type { AgentVersion } from './agent-version.ts';
import { confirmUnguardedAnnotation } from './kinds.ts';
import type { Stored } from './metadata.ts';
import { confirmationOf } from './protection.ts';

/** `Input` is the text of callers, `Output` the answer of the agent. */
export type AgentText = 'Input' | 'Output';
type Guarded = { readonly spec: Pick<AgentVersion['spec'], 'guardrails'> };
type Versions = Pick<Agent['spec'], 'version' | 'canary'>;

/** The texts that a policy checks in a version. */
export function checkedTexts({ spec: { guardrails } }: Guarded): readonly AgentText[] {
  return [
    ...(guardrails.input.mode === 'Policy' ? (['Input'] as const) : []),
    ...(guardrails.output.mode === 'Policy' ? (['Output'] as const) : []),
  ];
}

/** The names of the versions that begin to serve callers with a change: all of them, or a share. */
export function begunVersions(before: Versions, after: Versions): readonly string[] {
  const { canary } = after;
  const isNewTrial = canary !== undefined && canary.version !== before.canary?.version;
  return [
    ...(after.version === before.version ? [] : [after.version]),
    ...(isNewTrial && canary.version !== before.version ? [canary.version] : []),
  ];
}

/** The texts that are checked now and that a version would not check, in words; undefined if it checks all of them. */
export function lostTexts(checked: readonly AgentText[], next: Guarded): string | undefined {
  const kept = checkedTexts(next);
  const lost = checked.filter((text) => !kept.includes(text)).map((text) => words[text]);
  return lost.length === 0 ? undefined : lost.join(' and ');
}

const words = { Input: 'what callers send', Output: 'what the agent answers' } as const;

/**
 * The checks that a new version lacks, in words. Its Agent already names the version, so that it begins to serve
 * callers when it is ready. Undefined if the version has all checks of the served version.
 */
export function textsLostByVersion(version: Pick<AgentVersion, 'metadata' | 'spec'>, agent: Agent): string | undefined {
  const { spec, status, metadata } = agent;
  const { name } = version.metadata;
  const isOwn = version.spec.agent === metadata.name && metadata.deletionTimestamp === undefined;
  if (!isOwn || (spec.version !== name && spec.canary?.version !== name)) return undefined;
  return lostTexts(status?.checked ?? [], version);
}

/**
 * The reason why the creation of a version is refused: the version lacks checks that the Agent naming it has now, and
 * does not confirm this loss.
 */
export function versionUnguardingProblem(
  version: Pick<AgentVersion, 'metadata' | 'spec'>,
  agent: Stored<Agent>,
): string | undefined {
  const lost = textsLostByVersion(version, agent);
  const wanted = confirmationOf(agent.metadata);
  if (lost === undefined || version.metadata.annotations?.[confirmUnguardedAnnotation] === wanted) return undefined;
  return (
    `the Agent ${agent.metadata.name} names the version ${version.metadata.name}, which would leave ${lost} UNGUARDED ` +
    `that the served version has checked. To confirm it, create the version with the annotation ` +
    `${confirmUnguardedAnnotation} set to ${wanted}, or with: portcullis apply`
  );
}

/**
 * The reason why a change of an Agent is refused: a version with fewer checks than the served version would begin to
 * serve callers, without a confirmation in the same change.
 * @param versionOf returns the version with a name; a version that does not exist yet is not served, so that no check
 * is lost
 */
export function agentUnguardingProblem(
  before: Stored<Agent>,
  after: Pick<Agent, 'metadata' | 'spec'>,
  versionOf: (name: string) => AgentVersion | undefined,
): string | undefined {
  const checked = before.status?.checked ?? [];
  const wanted = confirmationOf(before.metadata);
  const confirmation = after.metadata.annotations?.[confirmUnguardedAnnotation];
  const isNew = confirmation !== before.metadata.annotations?.[confirmUnguardedAnnotation];
  if (confirmation === wanted && isNew) return undefined;
  for (const name of begunVersions(before.spec, after.spec)) {
    const version = versionOf(name);
    const lost = version === undefined ? undefined : lostTexts(checked, version);
    if (lost === undefined) continue;
    return (
      `the version ${name} would leave ${lost} UNGUARDED, which the served version has checked. To confirm it, set the ` +
      `annotation ${confirmUnguardedAnnotation} to ${wanted} in the same change, or run: portcullis agent switch ` +
      `${after.metadata.name} ${name}`
    );
  }
  return undefined;
}
