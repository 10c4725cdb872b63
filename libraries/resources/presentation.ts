import { idLabel, type kinds } from './kinds.ts';

/** A column of `kubectl get`; a column of priority 1 is shown only with `-o wide`. */
type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: 1;
};

/** The presentation of a kind in kubectl. */
type Presentation = {
  /** First sentence that `kubectl explain` prints for the kind. */
  readonly description: string;
  readonly spec: string;
  readonly status?: string;
  readonly columns: readonly PrinterColumn[];
  /** Fields for `kubectl get --field-selector` and watches; at most 8. */
  readonly selectableFields: readonly string[];
};

/** The category of `kubectl get portcullis`. */
export const category = 'portcullis';

const condition = (type: string, member: string): string => `.status.conditions[?(@.type=="${type}")].${member}`;

const ready: PrinterColumn = {
  name: 'Ready',
  type: 'string',
  jsonPath: condition('Ready', 'status'),
  description: 'Status of the condition Ready.',
};
const reason: PrinterColumn = {
  name: 'Reason',
  type: 'string',
  jsonPath: condition('Ready', 'reason'),
  description: 'Reason of the condition Ready.',
};
const message: PrinterColumn = {
  name: 'Message',
  type: 'string',
  jsonPath: condition('Ready', 'message'),
  description: 'Message of the condition Ready.',
  priority: 1,
};
const age: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since the creation.',
};
const id: PrinterColumn = {
  name: 'Id',
  type: 'string',
  jsonPath: `.metadata.labels.${idLabel.replaceAll('.', '\\.')}`,
  description: 'Id in the management API.',
  priority: 1,
};

function column(name: string, jsonPath: string, description: string, type: PrinterColumn['type'] = 'string') {
  return { name, type, jsonPath, description };
}

function wide(...parts: Parameters<typeof column>): PrinterColumn {
  return { ...column(...parts), priority: 1 };
}

export const presentations: Readonly<Record<keyof typeof kinds, Presentation>> = {
  guardrailPolicy: {
    description:
      'GuardrailPolicy is a named set of rules for the requests and responses of models. Each accepted change is ' +
      'recorded as a PolicyRevision; traffic changes only when a ModelBinding names that revision.',
    spec: 'spec is the content of the policy.',
    status: 'status is the state that the operator observed.',
    columns: [
      ready,
      reason,
      column('Revision', '.status.latestRevision.number', 'Number of the newest recorded revision.', 'integer'),
      column('Lifecycle', '.spec.lifecycle', 'Whether the policy allows new applications.'),
      column('Deleting', '.metadata.deletionTimestamp', 'Time since the deletion was requested.', 'date'),
      age,
      wide('Display name', '.spec.displayName', 'Name shown to users.'),
      id,
      message,
    ],
    selectableFields: ['.spec.lifecycle'],
  },
  policyRevision: {
    description:
      'PolicyRevision is one immutable state of a GuardrailPolicy. Portcullis writes it and keeps it after the policy is deleted.',
    spec: 'spec is the recorded policy; it never changes, except that its text can be removed.',
    columns: [
      column('Policy', '.spec.policy.name', 'Name of the policy.'),
      column('Number', '.spec.number', 'Number of the policy revision.', 'integer'),
      column('Rules', '.spec.ruleCount', 'Number of rules in the revision.', 'integer'),
      column('Lifecycle', '.spec.lifecycle', 'Lifecycle of the policy when the revision was recorded.'),
      age,
      wide('Kinds', '.spec.ruleKinds', 'Kinds of rules in the revision.'),
      wide('Digest', '.spec.definitionDigest', 'SHA-256 of the policy definition.'),
    ],
    selectableFields: ['.spec.policyId', '.spec.policy.name', '.spec.policy.uid', '.spec.definitionDigest'],
  },
  modelBinding: {
    description:
      'ModelBinding puts a model behind a gateway under an alias, guarded by one revision of a GuardrailPolicy or ' +
      'declared unguarded.',
    spec: 'spec is the desired state.',
    status: 'status is the state that the operator observed.',
    columns: [
      ready,
      reason,
      column('Applied', condition('Applied', 'status'), 'Status of the condition Applied.'),
      column('Alias', '.spec.model.alias', 'Model name that clients send.'),
      column('Guardrail', '.spec.guardrail.mode', 'Whether a policy guards the model.'),
      column('Policy', '.spec.guardrail.policyRef.name', 'Policy that should guard the model.'),
      column('Serving', '.status.pinned.policyRevision', 'Policy revision that the route serves.', 'integer'),
      age,
      wide('Revision', '.spec.guardrail.policyRef.revision', 'Policy revision that should guard the model.', 'integer'),
      wide('Reachable', condition('ProviderReachable', 'status'), 'Status of the condition ProviderReachable.'),
      wide('Gateway', '.spec.gateway', 'Gateway that serves the alias.'),
      wide('Provider', '.spec.model.provider', 'Provider of the model.'),
      wide('Upstream', '.spec.model.upstreamModel', 'Model name that is sent to the provider.'),
      wide('State', '.spec.model.state', 'Whether the alias accepts requests.'),
      id,
      message,
    ],
    selectableFields: [
      '.spec.gateway',
      '.spec.model.alias',
      '.spec.model.provider',
      '.spec.model.state',
      '.spec.guardrail.mode',
      '.spec.guardrail.policyRef.name',
    ],
  },
  runtimeWorkload: {
    description:
      'RuntimeWorkload is the runtime processes of one bundle and one build, shared by all applications of that ' +
      'content. Portcullis writes it.',
    spec: 'spec is the desired state; only replicas and state can change.',
    status: 'status is the state that the operator observed.',
    columns: [
      ready,
      reason,
      column('State', '.status.state', 'Observed state of the workload.'),
      column('Wanted', '.spec.replicas', 'Desired number of runtime processes.', 'integer'),
      column('Running', '.status.readyReplicas', 'Number of ready runtime processes.', 'integer'),
      age,
      wide('Build', '.spec.build', 'Build of the runtime.'),
      wide('Digest', '.spec.digest', 'SHA-256 of the bundle.'),
      message,
    ],
    selectableFields: ['.spec.digest', '.spec.build', '.spec.state'],
  },
  gatewayRoute: {
    description:
      'GatewayRoute is the route of one ModelBinding that the replicas of a gateway serve. Portcullis writes it.',
    spec: 'spec is the complete route; it is replaced as a whole.',
    columns: [
      column('Alias', '.spec.alias', 'Model name that clients send.'),
      column('Gateway', '.spec.gateway', 'Gateway that serves the alias.'),
      column('Guardrail', '.spec.guardrail.mode', 'Whether a policy guards the model.'),
      column('Revision', '.spec.guardrail.policyRevision', 'Revision of the policy.'),
      column('Workload', '.spec.workload', 'RuntimeWorkload that checks the traffic.'),
      column('State', '.spec.state', 'Whether the alias accepts requests.'),
      age,
      wide('Generation', '.spec.generationId', 'generationId of the application that serves requests.'),
      wide('Refused', '.spec.refused.reason', 'Why the last application was rejected.'),
      id,
    ],
    selectableFields: [
      '.spec.gateway',
      '.spec.alias',
      '.spec.binding.name',
      '.spec.workload',
      '.spec.generationId',
      '.spec.guardrail.policyId',
    ],
  },
  gatewayReport: {
    description:
      'GatewayReport is the state of one gateway replica. Only that replica writes it; the operator ' +
      'removes the reports of replicas that no longer exist.',
    spec: 'spec is the complete report; it is replaced as a whole.',
    columns: [
      column('Gateway', '.spec.gateway', 'Gateway that the replica belongs to.'),
      column('Ready', '.spec.ready', 'Whether the replica accepts traffic.', 'boolean'),
      column('Applied through', '.spec.appliedThrough', 'Resource version up to which every route was processed.'),
      age,
      wide('Pending', '.spec.pending[*].route', 'Name of the first route that the replica has not loaded yet.'),
      wide('Rejected', '.spec.rejected[*].route', 'Name of the first route that the replica rejected.'),
      wide('Boot', '.spec.bootId', 'Id of the current process of the replica; changes with each start.'),
    ],
    selectableFields: ['.spec.gateway', '.spec.ready'],
  },
  collection: {
    description:
      'Collection is a collection of documents that are searched together. The operator creates it in the retrieval ' +
      'service, changes what may change, and begins a reindex for another embedding profile.',
    spec: 'spec is the desired state.',
    status: 'status is the state that the operator observed.',
    columns: [
      ready,
      reason,
      column('Tenant', '.spec.tenant', 'Tenant of the collection.'),
      column('Collection', '.spec.name', 'Name of the collection in its tenant.'),
      column('Documents', '.status.documents', 'Number of documents.', 'integer'),
      column('Profile', '.status.embeddingProfile', 'Embedding profile of the active version.'),
      age,
      wide('Version', '.status.activeVersion', 'Version that answers queries.', 'integer'),
      wide('Chunks', '.status.chunks', 'Number of chunks.', 'integer'),
      wide('Reindex', '.status.reindex.state', 'State of the version that is being built.'),
      wide('Done', '.status.reindex.documentsDone', 'Documents that are in the new version.', 'integer'),
      wide('Failure', '.status.reindex.failure', 'Why the new version failed.'),
      wide('Deletion', '.spec.deletionPolicy', 'Effect of a deletion on the collection.'),
      wide('Collection id', '.status.collectionId', 'Id of the collection over HTTP.'),
      message,
    ],
    selectableFields: ['.spec.tenant', '.spec.name', '.spec.embeddingProfile', '.spec.deletionPolicy'],
  },
  agentVersion: {
    description:
      'AgentVersion is one immutable version of an agent. It is a flow, whose tests the operator ' +
      'runs first, or an image.',
    spec: 'spec is the version; it never changes.',
    status: 'status is the state that the operator observed.',
    columns: [
      ready,
      reason,
      column('Agent', '.spec.agent', 'Agent that this is a version of.'),
      column('Tested', condition('Tested', 'status'), 'Status of the condition Tested.'),
      column('Card', condition('CardVerified', 'status'), 'Status of the condition CardVerified.'),
      column('Input', '.spec.guardrails.input.mode', 'Whether a policy checks texts of callers.'),
      column('Output', '.spec.guardrails.output.mode', 'Whether a policy checks texts of the agent.'),
      age,
      wide('Version id', '.status.versionId', 'Id of the version.'),
      wide('Agent id', '.status.agentId', 'Id of the agent.'),
      wide('Workload', '.status.workload', 'Processes of the version.'),
      wide('Image', '.spec.sdk.image', 'Image of a version that is not a flow.'),
      wide('Digest', '.status.digest', 'SHA-256 of the bundle.'),
      message,
    ],
    selectableFields: ['.spec.agent'],
  },
  agent: {
    description:
      'Agent is an agent that people and other agents call through the gateway. It names the AgentVersion that is ' +
      'served, and who finds and calls it.',
    spec: 'spec is the desired state.',
    status: 'status is the state that the operator observed.',
    columns: [
      ready,
      reason,
      column('Version', '.spec.version', 'AgentVersion that should be served.'),
      column('Serving', '.status.served.version', 'AgentVersion that is served.'),
      column('Canary', '.status.canary.version', 'AgentVersion on trial.'),
      column('Accepted', condition('RouteAccepted', 'status'), 'Status of the condition RouteAccepted.'),
      age,
      wide('Percent', '.status.canary.percent', 'Share of the callers that the version on trial gets.', 'integer'),
      wide('Access', condition('AccessConsistent', 'status'), 'Status of the condition AccessConsistent.'),
      wide('Workspace', '.spec.workspace', 'Workspace of the agent.'),
      wide('Agent id', '.status.agentId', 'Id of the agent.'),
      wide('Url', '.status.url', 'Address of the agent for clients.'),
      message,
    ],
    selectableFields: ['.spec.version', '.spec.workspace'],
  },
  agentRoute: {
    description: 'AgentRoute is the route of one Agent that the replicas of all gateways serve. Portcullis writes it.',
    spec: 'spec is the complete route; it is replaced as a whole.',
    columns: [
      column('Agent', '.spec.agent.name', 'Agent that the route belongs to.'),
      column('Served', '.spec.served', 'Id of the version that is served.'),
      column('Canary', '.spec.canary.versionId', 'Id of the version on trial.'),
      column('Exposure', '.spec.exposure', 'Callers that are admitted over MCP.'),
      age,
      wide('Percent', '.spec.canary.percent', 'Share of the callers that the version on trial gets.', 'integer'),
      wide('Agent id', '.spec.agentId', 'Id of the agent.'),
      wide('Refused', '.spec.refused.reason', 'Why the last change was rejected.'),
    ],
    selectableFields: ['.spec.agentId', '.spec.agent.name'],
  },
};
