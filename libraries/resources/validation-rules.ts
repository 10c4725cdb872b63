import { type Kind, kinds } from './kinds.ts';
import { purgedName } from './purged-revision.ts';

/** A rule in CEL as a CustomResourceDefinition writes it (x-kubernetes-validations). */
export type ValidationRule = {
  readonly rule: string;
  readonly message: string;
  /** FieldValueDuplicate is not used, because the API server would omit the message. */
  readonly reason: 'FieldValueInvalid' | 'FieldValueForbidden';
  readonly fieldPath?: string;
};

/** A rule, and the path of its member from the root of the resource: `spec.definition`. */
type PlacedRule = ValidationRule & { readonly at: string };

function frozen(kind: Kind, at: string): PlacedRule {
  const what = at === 'spec' ? 'spec' : at.replace(/^spec\./, '');
  return {
    at,
    rule: 'self == oldSelf',
    message: `the ${what} of ${/^[AEIOU]/.test(kind.kind) ? 'an' : 'a'} ${kind.kind} never changes`,
    reason: 'FieldValueForbidden',
  };
}

/**
 * Needs Kubernetes 1.33 or newer. Inserting a key into a map twice is an error, and an error refuses the object. Comparing
 * every pair would exceed the cost that the API server allows for a list of this length.
 */
const uniqueIds: Omit<PlacedRule, 'at'> = {
  rule:
    '(self.baseline.map(rule, rule.id) + self.additional.map(rule, rule.id))' +
    '.transformMapEntry(index, id, {id: index}).size() >= 0',
  message: 'a rule id is used once in a section',
  reason: 'FieldValueInvalid',
};

function withinDeadline(list: 'baseline' | 'additional'): Omit<PlacedRule, 'at'> {
  return {
    rule: `self.${list}.all(rule, rule.timeoutMs <= self.deadlineMs)`,
    message: 'timeoutMs of a rule is at most the deadlineMs of its section',
    reason: 'FieldValueInvalid',
    fieldPath: `.${list}`,
  };
}

const sectionRules = ['request', 'response'].flatMap((section) =>
  [withinDeadline('baseline'), withinDeadline('additional'), uniqueIds].map((rule) => ({
    at: `spec.definition.${section}`,
    ...rule,
  })),
);

/** Members that a revision keeps when its text is removed. */
const keptMembers = [
  'policyId',
  'number',
  'policy',
  'token',
  'lifecycle',
  'definitionDigest',
  'ruleCount',
  'ruleKinds',
];

/**
 * The rule of `isPurgeOf` for the API server: the text of a revision can be removed once, and nothing else may change.
 */
const frozenButForPurge: PlacedRule = {
  at: 'spec',
  rule: [
    'self == oldSelf || has(self.purgeTime) && !has(oldSelf.purgeTime)',
    ...keptMembers.map((member) => `self.${member} == oldSelf.${member}`),
    'has(self.author) == has(oldSelf.author)',
    '(!has(self.author) || self.author == oldSelf.author)',
    `self.displayName == '${purgedName}'`,
    "self.description == ''",
    "self.definition == ''",
    'self.tests.size() == 0',
    '!has(self.message)',
    '!has(self.refusalText)',
  ].join(' && '),
  message: 'the spec of a PolicyRevision never changes, except that its text can be removed',
  reason: 'FieldValueForbidden',
};

/**
 * Validation rules of the API server beyond types and limits. The schemas (superRefine in `libraries/contracts/policy.ts`)
 * and `immutability.ts` check the same in TypeScript. Rules of unions are generated from the schemas.
 */
export const validationRules: Readonly<Record<keyof typeof kinds, readonly PlacedRule[]>> = {
  guardrailPolicy: [
    ...sectionRules,
    {
      at: 'spec.definition',
      rule: 'self.providers.all(one, self.providers.exists_one(other, other.name == one.name))',
      message: 'a provider is listed once',
      reason: 'FieldValueInvalid',
      fieldPath: '.providers',
    },
  ],
  policyRevision: [frozenButForPurge],
  modelBinding: [],
  runtimeWorkload: ['spec.digest', 'spec.build', 'spec.manifest'].map((at) => frozen(kinds.runtimeWorkload, at)),
  gatewayRoute: [],
  gatewayReport: [],
  collection: [
    ...['spec.tenant', 'spec.owner', 'spec.source', 'spec.type', 'spec.aclModel', 'spec.chunking'].map((at) =>
      frozen(kinds.collection, at),
    ),
    {
      at: 'spec.chunking',
      rule: 'self.overlap * 2 <= self.size',
      message: 'overlap is at most half of size',
      reason: 'FieldValueInvalid',
      fieldPath: '.overlap',
    },
    {
      at: 'spec.name',
      rule: "!self.matches('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$')",
      message: 'the name of a Collection does not have the form of a UUID',
      reason: 'FieldValueInvalid',
    },
  ],
  agentVersion: [
    frozen(kinds.agentVersion, 'spec'),
    {
      at: 'spec',
      rule: 'has(self.lowCode) != has(self.sdk)',
      message: 'exactly one of lowCode and sdk is set',
      reason: 'FieldValueInvalid',
    },
    {
      at: 'spec',
      rule: "!has(self.sdk) || self.requires.all(one, one.kind in ['Model', 'Connection', 'Mcp', 'Agent'])",
      message: 'an image reaches Model, Connection, Mcp and Agent only',
      reason: 'FieldValueInvalid',
      fieldPath: '.requires',
    },
    {
      at: 'spec.sdk',
      rule: 'has(self.a2a) != has(self.mcp)',
      message: 'exactly one of a2a and mcp is set',
      reason: 'FieldValueInvalid',
    },
  ],
  agent: [
    {
      at: 'spec',
      rule: '!has(self.canary) || self.canary.version != self.version',
      message: 'canary is another version than the served one',
      reason: 'FieldValueInvalid',
      fieldPath: '.canary',
    },
  ],
  agentRoute: [],
};

/**
 * Members that server-side apply treats as atomic: two field managers must not mix parts of a decision, and some members
 * are always replaced as a whole.
 */
export const atomicMembers: Readonly<Record<keyof typeof kinds, readonly string[]>> = {
  guardrailPolicy: [],
  policyRevision: ['spec'],
  modelBinding: ['spec.guardrail', 'spec.guardrail.policyRef'],
  runtimeWorkload: [],
  gatewayRoute: ['spec'],
  gatewayReport: ['spec'],
  collection: ['spec.owner', 'spec.source', 'spec.parent', 'spec.chunking'],
  agentVersion: ['spec'],
  agent: ['spec.canary', 'spec.owner', 'spec.access'],
  agentRoute: ['spec'],
};
