import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type AgentBundle, agentBundleDigest, agentBundleSchema } from '#contracts/agent-bundle';
import { digestOf } from '#contracts/canonical';
import { type SdkBundle, sdkBundleDigest, sdkBundleSchema } from '#contracts/sdk-bundle';
import { publishedSdkCard, readSdkCard } from '#contracts/sdk-card';
import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import { parseCard } from './check-image.ts';
import type { PublishedVersion } from './checking/version-check.ts';

/** The id of an agent: a UUID (version 8) of the namespace and the name that its versions share. */
export function agentIdOf(namespace: string, agent: string): string {
  const bytes = createHash('sha256').update(`portcullis.dev/agents/${namespace}/${agent}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The bundle of a version: of a flow, or of an image. */
export const versionBundleSchema = z.union([agentBundleSchema, sdkBundleSchema]);
export type VersionBundle = z.infer<typeof versionBundleSchema>;

/** Whether a version is an image, which has no texts of a flow. */
export function isSdkBundle(bundle: VersionBundle): bundle is SdkBundle {
  return 'image' in bundle;
}

/**
 * The bundle of an accepted version. The UID of the resource is the id of the version: a resource that is deleted and
 * created again is another version (docs/design/agent-versions.md).
 */
export function makeAgentBundle(
  { metadata, spec }: Stored<AgentVersion>,
  published: PublishedVersion,
  at: { readonly namespace: string; readonly publicUrl: URL },
): VersionBundle {
  const agentId = agentIdOf(at.namespace, spec.agent);
  const versionId = metadata.uid;
  const { input, output } = published.guardrails;
  const common = {
    formatVersion: 1,
    agentId,
    versionId,
    requires: published.requires.map(({ kind, name }) => ({ kind, name })),
    limits: {
      requestBytes: spec.limits?.requestBytes ?? published.limits.requestBytes,
      timeoutMs: spec.limits?.timeoutMs ?? published.limits.timeoutMs,
      concurrency: spec.limits?.concurrency ?? published.limits.concurrency,
    },
    guardrails: { input: bundled(input), output: bundled(output) },
    publicUrl: `${at.publicUrl.href.replace(/\/$/, '')}/agents/${agentId}/versions/${versionId}`,
  } as const;
  const { lowCode, sdk } = spec;
  if (sdk !== undefined) {
    const content: Omit<SdkBundle, 'digest'> = { ...common, image: sdk.image, ...servedBy(sdk, common.publicUrl) };
    return { ...content, digest: sdkBundleDigest(content) };
  }
  if (lowCode === undefined) throw new TypeError('an accepted version has neither a flow nor an image');
  const { flow, manifest, tests, subflows = [] } = lowCode;
  const sources = { flow, manifest, tests, ...(subflows.length === 0 ? {} : { subflows: [...subflows] }) };
  const content: Omit<AgentBundle, 'digest'> = { ...common, ...sources };
  return { ...content, digest: agentBundleDigest(content) };
}

/** The proof that the process of an image must serve: a card that is published with this digest, or a tool of this name. */
function servedBy(
  { a2a, mcp }: NonNullable<AgentVersion['spec']['sdk']>,
  publicUrl: string,
): Pick<SdkBundle, 'cardDigest' | 'tool'> {
  if (mcp !== undefined) return { tool: mcp.tool };
  const read = readSdkCard(parseCard(a2a?.card ?? ''));
  if (!read.ok) throw new TypeError('an accepted version has a card of another form');
  return { cardDigest: digestOf(publishedSdkCard(read.card, publicUrl)) };
}

function bundled(guardrail: PublishedVersion['guardrails']['input']): AgentBundle['guardrails']['input'] {
  return guardrail === 'None' ? 'None' : { name: guardrail.policy, revision: guardrail.revision };
}

/** The name of a workload: a digest over everything in which two processes can differ, so that no two share a name. */
export function agentWorkloadName({ agentId, versionId, digest }: VersionBundle, build: string): string {
  return `a-${digestOf({ agentId, versionId, digest, build }).slice(0, 20)}`;
}
