import { currentProfile } from '#contracts/profiles';
import type { GatewayReport } from '#resources/gateway-report';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { apiVersion } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';

type MetadataChange = Partial<GuardrailPolicy['metadata']>;

/** A policy with one rule per stage; tests change its `displayName`. */
export function samplePolicy(name: string, metadata: MetadataChange = {}): GuardrailPolicy {
  const section = {
    deadlineMs: 250,
    baseline: [
      {
        id: 'words',
        kind: 'stop_list' as const,
        timeoutMs: 20,
        action: { type: 'deny' as const },
        stopList: { terms: ['forbidden'], match: 'token' as const, caseSensitive: false },
      },
    ],
    additional: [],
  };
  return {
    apiVersion,
    kind: 'GuardrailPolicy',
    metadata: { name, ...metadata },
    spec: {
      displayName: 'Sample',
      description: '',
      lifecycle: 'Draft',
      definition: { request: section, response: section, providers: [] },
    },
  };
}

/** An unguarded binding. */
export function sampleBinding(name: string, metadata: MetadataChange = {}): ModelBinding {
  return {
    apiVersion,
    kind: 'ModelBinding',
    metadata: { name, ...metadata },
    spec: {
      model: { alias: name, provider: 'echo', upstreamModel: 'echo-1', state: 'Enabled' },
      gateway: 'default',
      guardrail: { mode: 'None' },
      contentProfile: currentProfile,
      replicas: 1,
    },
  };
}

/** A revision of a policy that does not have to exist. */
export function sampleRevision(name: string): PolicyRevision {
  return {
    apiVersion,
    kind: 'PolicyRevision',
    metadata: { name },
    spec: {
      policyId: 'p',
      number: 1,
      policy: { name: 'p', uid: 'u', generation: 1 },
      token: '',
      displayName: 'Sample',
      description: '',
      lifecycle: 'Draft',
      definition: '{}',
      definitionDigest: '0'.repeat(64),
      ruleCount: 0,
      ruleKinds: [],
      tests: [],
    },
  };
}

/** A report of a replica without routes. */
export function sampleReport(name: string, metadata: MetadataChange = {}): GatewayReport {
  return {
    apiVersion,
    kind: 'GatewayReport',
    metadata: { name, ...metadata },
    spec: {
      gateway: 'default',
      bootId: '01900000-0000-7000-8000-000000000000',
      ready: true,
      formats: [1],
      appliedThrough: '0',
      pending: [],
      rejected: [],
      inUse: [],
    },
  };
}
