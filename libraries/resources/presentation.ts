import { idLabel, type kinds } from './kinds.ts';

/** A column of `kubectl get`; one of priority 1 is shown with `-o wide` only. */
export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: 1;
};

/** How a kind looks to people who use kubectl. */
export type Presentation = {
  /** First sentence of `kubectl explain`. */
  readonly description: string;
  readonly spec: string;
  readonly status?: string;
  readonly columns: readonly PrinterColumn[];
  /** Fields by which `kubectl get --field-selector` and watches filter; at most 8. */
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
      'GuardrailPolicy is a named set of rules for what goes into a model and what comes out. Each accepted change is ' +
      'recorded as a PolicyRevision; traffic changes only when a ModelBinding names that revision.',
    spec: 'spec is what the policy says.',
    status: 'status is what the operator observed.',
    columns: [
      ready,
      reason,
      column('Revision', '.status.latestRevision.number', 'Number of the newest recorded revision.', 'integer'),
      column('Lifecycle', '.spec.lifecycle', 'Whether the policy may be newly applied.'),
      age,
      wide('Display name', '.spec.displayName', 'Name that people see.'),
      id,
      message,
    ],
    selectableFields: ['.spec.lifecycle'],
  },
  policyRevision: {
    description:
      'PolicyRevision is one immutable state of a GuardrailPolicy. Portcullis writes it; it outlives its policy.',
    spec: 'spec is the policy as it stood; it never changes.',
    columns: [
      column('Policy', '.spec.policy.name', 'Name of the policy.'),
      column('Number', '.spec.number', 'Number of the revision.', 'integer'),
      column('Rules', '.spec.ruleCount', 'Number of rules.', 'integer'),
      column('Lifecycle', '.spec.lifecycle', 'Lifecycle as it stood.'),
      age,
      wide('Kinds', '.spec.ruleKinds', 'Kinds of the rules.'),
      wide('Digest', '.spec.definitionDigest', 'SHA-256 of the definition.'),
    ],
    selectableFields: ['.spec.policyId', '.spec.policy.name', '.spec.policy.uid', '.spec.definitionDigest'],
  },
  modelBinding: {
    description:
      'ModelBinding puts a model behind a gateway under an alias, guarded by one revision of a GuardrailPolicy or ' +
      'declared unguarded.',
    spec: 'spec is what is wanted.',
    status: 'status is what the operator observed.',
    columns: [
      ready,
      reason,
      column('Alias', '.spec.model.alias', 'Model name that clients send.'),
      column('Guardrail', '.spec.guardrail.mode', 'Whether a policy guards the model.'),
      column('Policy', '.spec.guardrail.policyRef.name', 'Policy that is wanted.'),
      column('Revision', '.spec.guardrail.policyRef.revision', 'Revision that is wanted.', 'integer'),
      column('Serving', '.status.pinned.policyRevision', 'Revision that the route pins.'),
      age,
      wide('Gateway', '.spec.gateway', 'Gateway that serves the alias.'),
      wide('Provider', '.spec.model.provider', 'Provider of the model.'),
      wide('Upstream', '.spec.model.upstreamModel', 'Model name that the provider gets.'),
      wide('State', '.spec.model.state', 'Whether the alias takes traffic.'),
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
    spec: 'spec is what is to run; only replicas and state ever change.',
    status: 'status is what the operator observed.',
    columns: [
      ready,
      reason,
      column('State', '.status.state', 'What is observed.'),
      column('Wanted', '.spec.replicas', 'Processes that are wanted.', 'integer'),
      column('Running', '.status.readyReplicas', 'Processes that are ready.', 'integer'),
      age,
      wide('Build', '.spec.build', 'Build of the runtime.'),
      wide('Digest', '.spec.digest', 'SHA-256 of the bundle.'),
      message,
    ],
    selectableFields: ['.spec.digest', '.spec.build', '.spec.state'],
  },
  gatewayRoute: {
    description: 'GatewayRoute is what the replicas of a gateway serve for one ModelBinding. Portcullis writes it.',
    spec: 'spec is the whole route; it is replaced as a whole.',
    columns: [
      column('Alias', '.spec.alias', 'Model name that clients send.'),
      column('Gateway', '.spec.gateway', 'Gateway that serves the alias.'),
      column('Guardrail', '.spec.guardrail.mode', 'Whether a policy guards the model.'),
      column('Revision', '.spec.guardrail.policyRevision', 'Revision that guards.'),
      column('Workload', '.spec.workload', 'RuntimeWorkload that judges.'),
      column('State', '.spec.state', 'Whether the alias takes traffic.'),
      age,
      wide('Generation', '.spec.generationId', 'Application that is pinned.'),
      wide('Refused', '.spec.refused.reason', 'Why the last application was refused.'),
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
      'GatewayReport is what one replica of a gateway says that it holds. Only that replica writes it; the operator ' +
      'removes those of replicas that are gone.',
    spec: 'spec is the whole report; it is replaced as a whole.',
    columns: [
      column('Gateway', '.spec.gateway', 'Gateway that the replica belongs to.'),
      column('Ready', '.spec.ready', 'Whether the replica takes traffic.', 'boolean'),
      column('Applied through', '.spec.appliedThrough', 'Resource version up to which every route was seen.'),
      age,
      wide('Pending', '.spec.pending[*].route', 'First of the routes not yet taken.'),
      wide('Rejected', '.spec.rejected[*].route', 'First of the routes that it does not take.'),
      wide('Boot', '.spec.bootId', 'Start of the process.'),
    ],
    selectableFields: ['.spec.gateway', '.spec.ready'],
  },
};
