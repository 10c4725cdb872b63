import type { AgentVersion } from '#resources/agent-version';

type Version = Pick<AgentVersion, 'metadata' | 'spec'>;

/** Texts that the guardrail of a stage checks. */
const texts = { input: 'what callers send', output: 'what the agent answers' } as const;

/**
 * The effect of serving another version, as a sentence for the confirmation prompt: the texts that a policy checks now, and
 * that nothing would check then. Undefined where no check is lost.
 */
export function lostGuardrails(agent: string, present: Version, next: Version): string | undefined {
  const stages = (['input', 'output'] as const).filter(
    (stage) => present.spec.guardrails[stage].mode === 'Policy' && next.spec.guardrails[stage].mode === 'None',
  );
  if (stages.length === 0) return undefined;
  const lost = stages.map((stage) => texts[stage]).join(' and ');
  const { name } = next.metadata;
  return `Agent ${agent} would serve the version ${name}, which leaves ${lost} UNGUARDED. The version ${present.metadata.name} has it checked.`;
}
