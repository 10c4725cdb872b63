import type { AgentVersionSpec } from '#resources/agent-version';
import type { PublishedVersion } from './checking/version-check.ts';

/** The kind of a bundle for each kind of a resource. */
export const kindWords = {
  Model: 'model',
  Collection: 'collection',
  Connection: 'connection',
  Mcp: 'mcp',
  Agent: 'agent',
  Memory: 'memory',
  Policy: 'policy',
} as const satisfies Record<AgentVersionSpec['requires'][number]['kind'], string>;

/**
 * One sentence for each contradiction between a resource and its manifest; empty if they agree. Reviewers approve the
 * resource, and the process serves the manifest: a version runs only if both agree.
 */
export function manifestDifferences(spec: AgentVersionSpec, published: PublishedVersion): readonly string[] {
  const { requires, limits } = published;
  const differences: string[] = [];
  for (const stage of ['input', 'output'] as const) {
    if (wordOf(spec.guardrails[stage]) === publishedWord(published.guardrails[stage])) continue;
    differences.push(`guardrails.${stage} differs from the manifest`);
  }
  const given = new Set(spec.requires.map(({ kind, name }) => `${kindWords[kind]} ${name}`));
  const wanted = new Set(requires.map(({ kind, name }) => `${kind} ${name}`));
  for (const one of wanted.difference(given)) differences.push(`requires does not name the ${one} of the manifest`);
  for (const one of given.difference(wanted))
    differences.push(`requires names the ${one}, which is not in the manifest`);
  for (const name of ['requestBytes', 'timeoutMs', 'concurrency'] as const) {
    const limit = spec.limits?.[name];
    if (limit === undefined || limit <= limits[name]) continue;
    differences.push(`limits.${name} exceeds the limit of the manifest, ${limits[name]}`);
  }
  return differences;
}

function wordOf(guardrail: AgentVersionSpec['guardrails']['input']): string {
  return guardrail.mode === 'None' ? 'None' : `${guardrail.policyRef.name} ${guardrail.policyRef.revision}`;
}

function publishedWord(guardrail: PublishedVersion['guardrails']['input']): string {
  return guardrail === 'None' ? 'None' : `${guardrail.policy} ${guardrail.revision}`;
}
