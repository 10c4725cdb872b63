import { createHash } from 'node:crypto';
import type { Subject } from '#identity/identity';
import type { AgentRouteSpec, RoutedVersion } from '#resources/agent-route';

/** The share of the version on trial is decided in steps of 0.01 %. */
const steps = 10_000;

/**
 * The version that a call reaches (`agent-gateway:route-to-version:bound`). A path with a version reaches only that
 * version. A path without one reaches the served version, or for a fixed share of the subjects the version on trial.
 * @param subject undefined for a call about tasks and sessions, which belong to the served version
 * @returns undefined if the route does not list the version
 */
export function chooseVersion(
  { agentId, served, canary, versions }: AgentRouteSpec,
  versionId: string | undefined,
  subject: Subject | undefined,
): RoutedVersion | undefined {
  const trial = versionId === undefined && subject !== undefined ? canary : undefined;
  const chosen =
    trial !== undefined && subject !== undefined && shareOf(agentId, trial.versionId, subject) < trial.percent * 100
      ? trial.versionId
      : (versionId ?? served);
  return chosen === undefined ? undefined : versions.find((one) => one.versionId === chosen);
}

/** A number from 0 to 9,999 that is always the same for a subject and one version on trial. */
function shareOf(agentId: string, versionId: string, { issuer, subject }: Subject): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([agentId, versionId, issuer, subject]))
    .digest();
  return hash.readUInt32BE(0) % steps;
}
