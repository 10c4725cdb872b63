import { setCondition } from '#kube/apply/conditions';
import type { AgentVersion, AgentVersionStatus } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import type { VersionBundle } from '../../agents/agent-bundle.ts';
import { agentVersionConditions } from './conditions.ts';
import type { AgentVersionResult } from './decide.ts';

/**
 * The status at the end of a pass. Issued ids and digests are kept; card and address are those of the running process.
 */
export function makeAgentVersionStatus(
  { metadata, status }: Stored<AgentVersion>,
  result: AgentVersionResult,
  issued: { readonly bundle: VersionBundle; readonly workload: string } | undefined,
  now: Date,
): AgentVersionStatus {
  const { conditions: before, observedGeneration: _generation, ...known } = status ?? {};
  const conditions = agentVersionConditions(result, metadata.generation).reduce(
    (list, change) => setCondition(list, change, now),
    before ?? ([] as ReturnType<typeof setCondition>),
  );
  const { cardDigest: _card, address: _address, ...kept } = known;
  const running = result.kind === 'running' ? result.observed : undefined;
  const cardDigest = running?.card === 'verified' ? running.state?.cardDigest : undefined;
  return {
    conditions: [...conditions],
    observedGeneration: metadata.generation,
    ...kept,
    ...(issued === undefined
      ? {}
      : {
          agentId: issued.bundle.agentId,
          versionId: issued.bundle.versionId,
          digest: issued.bundle.digest,
          workload: issued.workload,
        }),
    ...(cardDigest === undefined ? {} : { cardDigest }),
    ...(running?.address === undefined ? {} : { address: running.address }),
  };
}
