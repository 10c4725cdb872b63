import type { AgentVersion } from '#resources/agent-version';

/** The texts of a version that is a flow. @throws Error for an image */
export function lowCodeOf({ lowCode }: AgentVersion['spec']): NonNullable<AgentVersion['spec']['lowCode']> {
  if (lowCode === undefined) throw new Error('the version is not a flow');
  return lowCode;
}
