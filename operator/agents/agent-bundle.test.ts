import { expect } from 'vitest';
import { sampleAgentVersion } from '#kube/testing/sample-agents';
import { verifies } from '../../e2e/support/verifies.ts';
import { agentWorkloadName, makeAgentBundle } from './agent-bundle.ts';
import type { PublishedVersion } from './checking/version-check.ts';

const published: PublishedVersion = {
  guardrails: { input: 'None', output: 'None' },
  requires: [],
  limits: { requestBytes: 1_048_576, timeoutMs: 60_000, concurrency: 4 },
  modes: ['MCP'],
};
const at = { namespace: 'default', publicUrl: new URL('https://agents.example.com') };
const system = { uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-31T09:00:00Z' };

/** The digest and the workload of a version whose tool has this description. */
function issuedWith(description: string): readonly string[] {
  const { metadata, spec, ...rest } = sampleAgentVersion('hello-1');
  const { lowCode } = spec;
  if (lowCode === undefined) throw new Error('the sample has no flow');
  const manifest = `${lowCode.manifest}mcp: { toolName: hello, title: Hello, description: ${description} }\n`;
  const version = {
    ...rest,
    metadata: { ...metadata, ...system, namespace: 'default' },
    spec: { ...spec, lowCode: { ...lowCode, manifest } },
  };
  const bundle = makeAgentBundle(version, published, at);
  return [bundle.digest, agentWorkloadName(bundle, 'build')];
}

verifies(
  ['agents:mcp:definition-change'],
  'a version with a changed tool definition has another digest and another workload; an unchanged version keeps both',
  () => {
    const [digest, workload] = issuedWith('Repeats a text.');
    expect(issuedWith('Repeats a text.')).toEqual([digest, workload]);
    const [otherDigest, otherWorkload] = issuedWith('Repeats each text.');
    expect(otherDigest).not.toBe(digest);
    expect(otherWorkload).not.toBe(workload);
  },
);
