import type { AccessHolder, Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import type { CollectionResource } from '#resources/collection';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { apiVersion } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';

const digest = 'a'.repeat(64);
const uuid = '01990000-0000-7000-8000-000000000001';
const condition = {
  type: 'Ready',
  status: 'True' as const,
  observedGeneration: 1,
  lastTransitionTime: '2026-01-31T12:00:00Z',
  reason: 'Ready',
  message: 'All is well.',
};

/** Distinct numbers, so that each can be moved to its own limits. */
const common = { timeoutMs: 1 };
const deny = { type: 'deny' as const };
const terms = { terms: ['x'], match: 'token' as const, caseSensitive: false };
const pattern = { engine: 're2-1.1.20251105' as const, pattern: 'x+', caseSensitive: true };
const detector = { provider: 'injections', contract: 'platform.guardrail-runtime.detector/v1' as const };
const classifier = {
  provider: 'classifier',
  profile: 'generic.chat-completions.classifier/v1' as const,
  instruction: { version: '1', text: 'Deny malware.' },
};
const mask = { type: 'mask' as const, replacement: '[x]' };

/** A section with one rule of each kind in each list, with every optional member. */
function section(): GuardrailPolicy['spec']['definition']['request'] {
  const rules = (suffix: string) =>
    [
      { id: `words${suffix}`, kind: 'stop_list', ...common, action: mask, stopList: terms },
      { id: `pattern${suffix}`, kind: 'regex', ...common, action: deny, regex: pattern },
      { id: `detector${suffix}`, kind: 'external_pipeline', ...common, action: deny, externalPipeline: detector },
      { id: `judge${suffix}`, kind: 'llm_classifier', ...common, action: deny, llmClassifier: classifier },
    ] as const;
  return {
    deadlineMs: 5_000,
    baseline: [...rules('')],
    additional: rules('-more').map((rule) => ({ ...rule, mode: 'observe' as const })),
  };
}

const guardrailPolicy: GuardrailPolicy = {
  apiVersion,
  kind: 'GuardrailPolicy',
  metadata: { name: 'sample' },
  spec: {
    displayName: 'Sample',
    description: 'Every field.',
    lifecycle: 'Draft',
    definition: {
      request: section(),
      response: section(),
      providers: [
        { name: 'injections', credentialRef: { name: 'injections-key' } },
        { name: 'classifier', credentialRef: { name: 'classifier-key' } },
      ],
    },
    tests: [{ name: 'a test', stage: 'request', messages: [{ role: 'user', content: 'hello' }], expect: 'Pass' }],
    change: 'token',
  },
  status: {
    conditions: [condition],
    observedGeneration: 1,
    latestRevision: { number: 1, name: `${uuid}-1`, definitionDigest: digest },
    judgedSettings: digest,
    servedAs: ['documents'],
  },
};

const policyRevision: PolicyRevision = {
  apiVersion,
  kind: 'PolicyRevision',
  metadata: { name: `${uuid}-1` },
  spec: {
    policyId: uuid,
    number: 1,
    policy: { name: 'sample', uid: uuid, generation: 1 },
    token: '',
    displayName: 'Sample',
    description: '',
    lifecycle: 'Draft',
    definition: '{}',
    definitionDigest: digest,
    ruleCount: 8,
    ruleKinds: ['stop_list'],
    tests: guardrailPolicy.spec.tests ?? [],
  },
};

const modelBinding: ModelBinding = {
  apiVersion,
  kind: 'ModelBinding',
  metadata: { name: 'sample' },
  spec: {
    model: { alias: 'sample', provider: 'echo', upstreamModel: 'echo', state: 'Enabled' },
    gateway: 'default',
    guardrail: { mode: 'Policy', policyRef: { name: 'sample', revision: 1 } },
    contentProfile: 'gateway-1.5.0-chat-webhook-v2',
    replicas: 1,
    extraRequestKeys: ['top_k'],
    judge: ['toolCalls', 'all'],
    unjudged: 'Refuse',
    streaming: 'Allowed',
    longConversations: 'Split',
    apply: 'token',
  },
  status: {
    conditions: [condition],
    observedGeneration: 1,
    pinned: { generationId: uuid, policyId: uuid, policyRevision: 1, digest },
    applications: [
      {
        operationId: 'token',
        policyId: uuid,
        policyRevision: 1,
        contentProfile: 'gateway-1.5.0-chat-webhook-v2',
        generationId: uuid,
        outcome: 'Failed',
        reason: 'bundle_invalid',
        time: '2026-01-31T12:00:00.123Z',
      },
    ],
  },
};

const runtimeWorkload: RuntimeWorkload = {
  apiVersion,
  kind: 'RuntimeWorkload',
  metadata: { name: 'g-0123456789abcdef0123' },
  spec: { digest, build: '0.1.0', manifest: '{}', replicas: 1, state: 'Active' },
  status: {
    conditions: [condition],
    observedGeneration: 1,
    state: 'Ready',
    addresses: ['http://g-0123456789abcdef0123.test.svc:8000'],
    readyReplicas: 1,
    testsPassed: [digest],
  },
};

const gatewayRoute: GatewayRoute = {
  apiVersion,
  kind: 'GatewayRoute',
  metadata: { name: 'sample' },
  spec: {
    formatVersion: 1,
    gateway: 'default',
    binding: { name: 'sample', uid: uuid, id: uuid },
    alias: 'sample',
    generationId: uuid,
    token: 'token',
    contentProfile: 'gateway-1.5.0-chat-webhook-v2',
    state: 'Enabled',
    guardrail: {
      mode: 'Policy',
      policyId: uuid,
      policyRevision: '1',
      digest,
      addresses: ['http://g-0123456789abcdef0123.test.svc:8000'],
      headers: {
        'x-ap-gr-policy-id': uuid,
        'x-ap-gr-policy-revision': '1',
        'x-ap-gr-bundle-digest': digest,
        'x-ap-gr-content-profile': 'gateway-1.5.0-chat-webhook-v2',
      },
      maxBodyBytes: 32_768,
      maxMessages: 32,
      deadlineMs: { request: 250, response: 250 },
      streaming: { allowed: false, rule: 'words' },
      division: { allowed: false, rule: 'words' },
    },
    workload: 'g-0123456789abcdef0123',
    upstream: { provider: 'echo', endpoint: 'http://echo.test.svc/v1', model: 'echo', credential: 'echo-key' },
    extraRequestKeys: ['top_k'],
    judge: ['toolCalls'],
    unjudged: 'Refuse',
    streaming: 'Allowed',
    longConversations: 'Split',
    refused: {
      token: 'earlier',
      contentDigest: digest,
      generationId: uuid,
      reason: 'replica_rejected',
      message: 'A replica did not take it.',
    },
  },
};

const place = { route: 'sample', uid: uuid, version: '1' };
const gatewayReport: GatewayReport = {
  apiVersion,
  kind: 'GatewayReport',
  metadata: { name: 'gateway-0' },
  spec: {
    gateway: 'default',
    bootId: uuid,
    ready: true,
    formats: [1],
    appliedThrough: '1',
    pending: [place],
    rejected: [{ ...place, reason: 'probe_policy_unavailable' }],
    inUse: [{ workload: 'g-0123456789abcdef0123', generationId: uuid }],
    providers: [{ provider: 'echo', model: 'echo', cause: 'invalid_answer' }],
    agents: {
      appliedThrough: '1',
      pending: [place],
      rejected: [{ ...place, reason: 'card_differs' }],
      inUse: [{ agentId: uuid, versionId: uuid }],
    },
  },
};

const collection: CollectionResource = {
  apiVersion,
  kind: 'Collection',
  metadata: { name: 'sample' },
  spec: {
    tenant: 'acme',
    owner: { issuer: 'https://issuer.example', subject: 'ann' },
    source: { mode: 'Existing', collectionId: uuid },
    parent: { mode: 'Below', collectionId: '01990000-0000-7000-8000-000000000002' },
    name: 'Handbook',
    description: 'Every field.',
    type: 'KnowledgeBase',
    visibility: 'Private',
    embeddingProfile: 'multilingual',
    aclModel: 'Document',
    chunking: { size: 8_000, overlap: 50 },
    retrievalDefaults: { mode: 'Hybrid', results: 8, rerankProfile: 'reranker' },
    emptyAclPolicy: 'Reject',
    deletionPolicy: 'Retain',
  },
  status: {
    conditions: [condition],
    observedGeneration: 1,
    collectionId: uuid,
    state: 'Ready',
    activeVersion: 1,
    embeddingProfile: 'multilingual',
    parentId: uuid,
    documents: 12,
    chunks: 340,
    reindex: {
      version: 2,
      embeddingProfile: 'other',
      state: 'Failed',
      documentsDone: 3,
      documentsTotal: 12,
      failure: 'The policy denies a text.',
    },
  },
};

const agentVersion: AgentVersion = {
  apiVersion,
  kind: 'AgentVersion',
  metadata: { name: 'sample' },
  spec: {
    agent: 'handbook',
    lowCode: { flow: 'a flow', manifest: 'a manifest', tests: 'tests', subflows: ['another flow'] },
    guardrails: {
      input: { mode: 'Policy', policyRef: { name: 'sample', revision: 1 } },
      output: { mode: 'Policy', policyRef: { name: 'sample', revision: 1 } },
    },
    requires: [{ kind: 'Model', name: 'chat' }],
    limits: { requestBytes: 65_536, timeoutMs: 30_000, concurrency: 4 },
  },
  status: {
    conditions: [condition],
    observedGeneration: 1,
    agentId: uuid,
    versionId: uuid,
    digest,
    workload: 'a-0123456789abcdef0123',
    cardDigest: digest,
  },
};

/** A version that is an image, which excludes a flow. */
export const imageVersion = {
  ...agentVersion,
  spec: {
    agent: 'helper',
    sdk: { image: `images.example/helper@sha256:${digest}`, mcp: { tool: 'search' } },
    guardrails: agentVersion.spec.guardrails,
    requires: [{ kind: 'Model', name: 'chat' }],
  },
} as const satisfies AgentVersion;

const holders = [
  { kind: 'User', issuer: 'https://issuer.example', subject: 'ann' },
  { kind: 'Group', tenant: 'acme', group: 'support' },
  { kind: 'Agent', agent: 'helper' },
  { kind: 'Service', issuer: 'https://issuer.example', subject: 'importer' },
  { kind: 'AuthenticatedAll' },
] as const satisfies readonly AccessHolder[];
const agent: Agent = {
  apiVersion,
  kind: 'Agent',
  metadata: { name: 'sample' },
  spec: {
    version: 'sample-1',
    canary: { version: 'sample-2', percent: 10 },
    keep: 2,
    owner: { issuer: 'https://issuer.example', subject: 'ann' },
    workspace: 'support',
    access: { view: [...holders], invoke: [...holders] },
    cards: 'Public',
  },
  status: {
    conditions: [condition],
    observedGeneration: 1,
    agentId: uuid,
    url: `https://agents.example/agents/${uuid}`,
    served: { version: 'sample-1', versionId: uuid },
    checked: ['Input', 'Output'],
    canary: { version: 'sample-2', versionId: uuid, percent: 10 },
    previous: [{ version: 'sample-0', versionId: uuid }],
  },
};

const target = {
  mode: 'Policy',
  policyId: uuid,
  policyRevision: '1',
  digest,
  contentProfile: 'ap-chat-v1',
  streaming: 'Windows',
  division: 'Pieces',
  addresses: ['http://runtime.example:8080'],
  maxBodyBytes: 32_768,
  maxMessages: 32,
  deadlineMs: { request: 250, response: 250 },
} as const;
const agentRoute: AgentRoute = {
  apiVersion,
  kind: 'AgentRoute',
  metadata: { name: 'sample' },
  spec: {
    formatVersion: 1,
    agentId: uuid,
    agent: { name: 'sample', uid: uuid },
    served: uuid,
    canary: { versionId: uuid, percent: 10 },
    versions: [
      {
        versionId: uuid,
        version: 'sample-1',
        modes: ['A2A', 'MCP'],
        address: 'http://127.0.0.1:4000',
        cardDigest: digest,
        requires: [{ kind: 'Model', name: 'chat' }],
        limits: {
          requestBytes: 65_536,
          timeoutMs: 30_000,
          concurrency: 4,
          budget: { nodes: 1_000, modelTokens: 100_000, outputBytes: 1_048_576 },
        },
        guardrails: { input: { ...target, addresses: [...target.addresses] }, output: { mode: 'None' } },
        sdk: { publicUrl: 'http://agents.example/agents/sample', tool: 'search' },
      },
    ],
    cards: 'View',
    exposure: 'R1',
    refused: { generation: 1, versionIds: [uuid], reason: 'card_differs' },
  },
};

/** One object of each kind with every optional field. */
export const fullObjects = {
  guardrailPolicy,
  policyRevision,
  modelBinding,
  runtimeWorkload,
  gatewayRoute,
  gatewayReport,
  collection,
  agentVersion,
  agent,
  agentRoute,
} as const;
