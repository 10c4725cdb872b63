import { flowLimits } from '#contracts/flow-limits';
import { readSdkCard } from '#contracts/sdk-card';
import { parseStrict } from '#kit/json/parse-strict';
import type { AgentVersionSpec } from '#resources/agent-version';
import type { PublishedVersion, VersionVerdict } from './checking/version-check.ts';
import { kindWords } from './manifest-differences.ts';

const { requestBytes, concurrency, timeoutMs } = flowLimits.manifest;

/**
 * The verdict about a version that is an image. An image has no texts to run, so that only its card is read; its
 * resource states the content that the manifest of a flow would have. The number of tests is 0.
 */
export function checkImage(spec: AgentVersionSpec): VersionVerdict {
  const card = spec.sdk?.a2a?.card;
  if (card !== undefined) {
    const read = readSdkCard(parseCard(card));
    if (!read.ok) return { kind: 'refused', part: 'card', problem: read.problem, count: 1 };
  }
  return { kind: 'loaded', published: publishedOf(spec), tests: 0, failed: [] };
}

/** The value of the text of a card; undefined if it is not JSON. */
export function parseCard(text: string): unknown {
  try {
    return parseStrict(Buffer.from(text, 'utf8'));
  } catch {
    return undefined;
  }
}

function publishedOf({ sdk, guardrails, requires, limits }: AgentVersionSpec): PublishedVersion {
  const guardrail = (one: AgentVersionSpec['guardrails']['input']): PublishedVersion['guardrails']['input'] =>
    one.mode === 'None' ? 'None' : { policy: one.policyRef.name, revision: one.policyRef.revision };
  return {
    guardrails: { input: guardrail(guardrails.input), output: guardrail(guardrails.output) },
    requires: requires.map(({ kind, name }) => ({ kind: kindWords[kind], name })),
    limits: {
      requestBytes: limits?.requestBytes ?? requestBytes.default,
      timeoutMs: limits?.timeoutMs ?? timeoutMs,
      concurrency: limits?.concurrency ?? concurrency.default,
    },
    modes: [sdk?.mcp === undefined ? 'A2A' : 'MCP'],
  };
}
