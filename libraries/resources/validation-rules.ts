import { type Kind, kinds } from './kinds.ts';

/** A rule in CEL as a CustomResourceDefinition writes it (x-kubernetes-validations). */
export type ValidationRule = {
  readonly rule: string;
  readonly message: string;
  /** With FieldValueDuplicate the API server leaves the message out. */
  readonly reason: 'FieldValueInvalid' | 'FieldValueForbidden';
  readonly fieldPath?: string;
};

/** A rule and the member on which it stands, as a path from the top of the resource: `spec.definition`. */
type PlacedRule = ValidationRule & { readonly at: string };

function frozen(kind: Kind, at: string): PlacedRule {
  const what = at === 'spec' ? 'spec' : at.replace(/^spec\./, '');
  return {
    at,
    rule: 'self == oldSelf',
    message: `the ${what} of a ${kind.kind} never changes`,
    reason: 'FieldValueForbidden',
  };
}

/**
 * Kubernetes 1.33 or newer. Inserting a key into a map a second time is an error, and an error refuses the object: a comparison of every pair
 * would cost more than the API server allows for a list of this length.
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

/**
 * What the API server judges beyond types and limits. Each rule has a twin that our own code judges by: the schemas
 * (superRefine in `libraries/contracts/policy.ts`) and `immutability.ts`. Rules of unions are not listed: they are made
 * from the alternatives of the schemas.
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
  policyRevision: [frozen(kinds.policyRevision, 'spec')],
  modelBinding: [],
  runtimeWorkload: ['spec.digest', 'spec.build', 'spec.manifest'].map((at) => frozen(kinds.runtimeWorkload, at)),
  gatewayRoute: [],
  gatewayReport: [],
};

/**
 * Members that have one owner as a whole in server-side apply: a decision that two managers must not mix, and what one
 * writer replaces whole.
 */
export const atomicMembers: Readonly<Record<keyof typeof kinds, readonly string[]>> = {
  guardrailPolicy: [],
  policyRevision: ['spec'],
  modelBinding: ['spec.guardrail', 'spec.guardrail.policyRef'],
  runtimeWorkload: [],
  gatewayRoute: ['spec'],
  gatewayReport: ['spec'],
};
