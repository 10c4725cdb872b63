import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';

const samples = join(import.meta.dirname, '../../../crds/samples/valid');
const read = (file: string): unknown => parse(readFileSync(join(samples, file), 'utf8'));

/** An AgentVersion of the samples under this name; the policy of `checks` judges the texts of callers. */
export function sampleAgentVersion(name: string, checks?: string): AgentVersion {
  const version = read('agent-version-small.yaml') as AgentVersion;
  const { guardrails } = version.spec;
  const input =
    checks === undefined ? guardrails.input : { mode: 'Policy' as const, policyRef: { name: checks, revision: 1 } };
  return { ...version, metadata: { name }, spec: { ...version.spec, guardrails: { ...guardrails, input } } };
}

/** An Agent of the samples that serves this version. */
export function sampleAgent(name: string, version: string): Agent {
  const agent = read('agent-small.yaml') as Agent;
  return { ...agent, metadata: { name }, spec: { ...agent.spec, version } };
}
