import { createHash } from 'node:crypto';
import { type AgentBundle, agentBundleDigest } from '#contracts/agent-bundle';
import { digestOf } from '#contracts/canonical';
import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import type { PublishedVersion } from './checking/version-check.ts';

/** The id of an agent: a UUID (version 8) of the namespace and the name that its versions share. */
export function agentIdOf(namespace: string, agent: string): string {
  const bytes = createHash('sha256').update(`portcullis.dev/agents/${namespace}/${agent}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * The bundle of an accepted version. The UID of the resource is the id of the version: a resource that is deleted and
 * created again is another version (docs/design/agent-versions.md).
 */
export function makeAgentBundle(
  { metadata, spec }: Stored<AgentVersion>,
  published: PublishedVersion,
  at: { readonly namespace: string; readonly publicUrl: URL },
): AgentBundle {
  const agentId = agentIdOf(at.namespace, spec.agent);
  const versionId = metadata.uid;
  const { input, output } = published.guardrails;
  const { subflows = [] } = spec.lowCode;
  const content: Omit<AgentBundle, 'digest'> = {
    formatVersion: 1,
    agentId,
    versionId,
    flow: spec.lowCode.flow,
    manifest: spec.lowCode.manifest,
    tests: spec.lowCode.tests,
    ...(subflows.length === 0 ? {} : { subflows: [...subflows] }),
    requires: published.requires.map(({ kind, name }) => ({ kind, name })),
    limits: {
      requestBytes: spec.limits?.requestBytes ?? published.limits.requestBytes,
      timeoutMs: spec.limits?.timeoutMs ?? published.limits.timeoutMs,
      concurrency: spec.limits?.concurrency ?? published.limits.concurrency,
    },
    guardrails: { input: bundled(input), output: bundled(output) },
    publicUrl: `${at.publicUrl.href.replace(/\/$/, '')}/agents/${agentId}/versions/${versionId}`,
  };
  return { ...content, digest: agentBundleDigest(content) };
}

function bundled(guardrail: PublishedVersion['guardrails']['input']): AgentBundle['guardrails']['input'] {
  return guardrail === 'None' ? 'None' : { name: guardrail.policy, revision: guardrail.revision };
}

/** The name of a workload: a digest over everything in which two processes can differ, so that no two share a name. */
export function agentWorkloadName({ agentId, versionId, digest }: AgentBundle, build: string): string {
  return `a-${digestOf({ agentId, versionId, digest, build }).slice(0, 20)}`;
}
