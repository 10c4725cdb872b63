import { group, idLabel, type Kind, kinds, restoredUidAnnotation } from './kinds.ts';
import { protectionRules } from './protection-rules.ts';

/** A rule on labels or on the writer, which CEL in a CustomResourceDefinition cannot see. */
export type AdmissionRule = {
  /** Name of the ValidatingAdmissionPolicy and of its binding. */
  readonly name: string;
  readonly description: string;
  readonly kinds: readonly Kind[];
  /** Subresources that the admission rule covers; when absent, only the objects themselves. */
  readonly resources?: readonly string[];
  /** The operations to which the rule applies; CREATE and UPDATE when absent. */
  readonly operations?: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** The rule is evaluated once for each object of this kind in the namespace of the request, as `params`. */
  readonly params?: Kind;
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly {
    readonly expression: string;
    readonly message: string;
    /** A message with names; `message` is used if it cannot be evaluated. */
    readonly messageExpression?: string;
    readonly reason: 'Invalid' | 'Forbidden';
  }[];
};

/** The form of an id: a UUID of version 7 in lower case (RFC 9562 §5.7). */
export const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const idFormMessage = `the label ${idLabel} is a UUID of version 7 in lower case`;
export const idChangeMessage = `the label ${idLabel} is set once and never changes`;
export const restoredUidMessage = `the annotation ${restoredUidAnnotation} is set by a restore only and never changes`;

/** A right that no role grants: writing reports in the name of any replica. */
export const writeAnyVerb = 'write-any';
/** The right of the operator's service account, on routes: to write objects that only the operator writes. */
const operateVerb = 'operate';
/** The verb that allows creating such objects from a backup, but not changing them. */
export const restoreVerb = 'restore';

const labelsOf = (object: string): string =>
  `${object} != null && has(${object}.metadata.labels) ? ${object}.metadata.labels : {}`;
const has = (labels: string): string => `'${idLabel}' in variables.${labels}`;
const value = (labels: string): string => `variables.${labels}['${idLabel}']`;

export const annotationsOf = (object: string): string =>
  `${object} != null && has(${object}.metadata.annotations) ? ${object}.metadata.annotations : {}`;
const hasRestored = (annotations: string): string => `('${restoredUidAnnotation}' in variables.${annotations})`;
const restored = (annotations: string): string => `variables.${annotations}['${restoredUidAnnotation}']`;

const mapOf = (object: string, map: string): string =>
  `has(${object}.metadata.${map}) ? ${object}.metadata.${map} : {}`;
const same = (map: string): string => `(${mapOf('object', map)}) == (${mapOf('oldObject', map)})`;
const sameStatus =
  'has(object.status) == has(oldObject.status) && (!has(object.status) || object.status == oldObject.status)';
const pinnedOf = (object: string): string =>
  `has(${object}.status) && has(${object}.status.pinned) ? [${object}.status.pinned] : []`;

const allows = (verb: string): string =>
  `authorizer.group('${group}').resource('${kinds.gatewayRoute.plural}').namespace(request.namespace)` +
  `.check('${verb}').allowed()`;

/**
 * Whether the request comes from the service account of the operator: a service account in the namespace of the object,
 * with any name, that has a right which only the operator's role grants. Members of system:masters have every right, so
 * that they pass here as well.
 */
const isOperator = {
  name: 'isOperator',
  expression:
    `${allows(operateVerb)} && (request.userInfo.username.startsWith('system:serviceaccount:' + request.namespace + ':') || ` +
    "has(request.userInfo.groups) && 'system:masters' in request.userInfo.groups)",
};

/** Only finalizers, owners and managed fields differ, as after writes of garbage collection and migrations. */
function operatorOnly(
  kind: Kind,
  { hasStatus, instead }: { readonly hasStatus: boolean; readonly instead: Kind },
): AdmissionRule {
  const parts = [
    'object.spec == oldObject.spec',
    same('labels'),
    same('annotations'),
    ...(hasStatus ? [sameStatus] : []),
  ];
  return {
    name: `${kind.plural}.${group}`,
    description: `${article(kind)} ${kind.kind} is written by the operator only.`,
    kinds: [kind],
    resources: hasStatus ? [kind.plural, `${kind.plural}/status`] : [kind.plural],
    variables: [isOperator, { name: 'isUnchanged', expression: `oldObject != null && ${parts.join(' && ')}` }],
    validations: [
      {
        expression: `variables.isOperator || variables.isUnchanged || oldObject == null && ${allows(restoreVerb)}`,
        message: `${article(kind).toLowerCase()} ${kind.kind} is written by the operator only: change the ${instead.kind} instead`,
        reason: 'Forbidden',
      },
    ],
  };
}

function article({ kind }: Kind): 'A' | 'An' {
  return /^[AEIOU]/.test(kind) ? 'An' : 'A';
}

const podName = 'authentication.kubernetes.io/pod-name';

/**
 * `immutability.ts` and `identity.ts` check the same in TypeScript, except the writer, which only the API server can
 * identify.
 */
export const admissionRules: readonly AdmissionRule[] = [
  {
    name: `ids.${group}`,
    description: 'The id for the management API is set once and must have the required format.',
    kinds: Object.values(kinds),
    variables: [
      { name: 'before', expression: labelsOf('oldObject') },
      { name: 'after', expression: labelsOf('object') },
    ],
    validations: [
      {
        expression: `!(${has('before')}) || ${has('after')} && ${value('before')} == ${value('after')}`,
        message: idChangeMessage,
        reason: 'Invalid',
      },
      {
        expression: `${has('before')} || !(${has('after')}) || ${value('after')}.matches('${idPattern.source}')`,
        message: idFormMessage,
        reason: 'Invalid',
      },
    ],
  },
  {
    name: `reports.${group}`,
    description: 'A report is written by the replica whose name it bears.',
    kinds: [kinds.gatewayReport],
    variables: [
      {
        name: 'pod',
        expression: `has(request.userInfo.extra) && '${podName}' in request.userInfo.extra ? request.userInfo.extra['${podName}'][0] : ''`,
      },
      {
        name: 'isReplica',
        expression:
          "variables.pod == object.metadata.name && request.userInfo.username.startsWith('system:serviceaccount:' + request.namespace + ':')",
      },
    ],
    validations: [
      {
        expression:
          'variables.isReplica || oldObject != null && object.spec == oldObject.spec || ' +
          `authorizer.group('${group}').resource('${kinds.gatewayReport.plural}').namespace(request.namespace)` +
          `.name(object.metadata.name).check('${writeAnyVerb}').allowed()`,
        message: 'a GatewayReport is written by the replica whose name it bears',
        reason: 'Forbidden',
      },
    ],
  },
  {
    name: `restored-uids.${group}`,
    description:
      'A Collection declares the collection of an earlier resource only where it was restored from a backup.',
    kinds: [kinds.collection],
    variables: [
      { name: 'before', expression: annotationsOf('oldObject') },
      { name: 'after', expression: annotationsOf('object') },
    ],
    validations: [
      {
        expression:
          `oldObject == null ? !(${hasRestored('after')}) || ${allows(restoreVerb)} : ` +
          `${hasRestored('before')} == ${hasRestored('after')} && ` +
          `(!(${hasRestored('after')}) || ${restored('before')} == ${restored('after')})`,
        message: restoredUidMessage,
        reason: 'Invalid',
      },
    ],
  },
  operatorOnly(kinds.gatewayRoute, { hasStatus: false, instead: kinds.modelBinding }),
  operatorOnly(kinds.runtimeWorkload, { hasStatus: true, instead: kinds.modelBinding }),
  operatorOnly(kinds.agentRoute, { hasStatus: false, instead: kinds.agent }),
  {
    name: `pins.${group}`,
    description: 'The pinned application in the status of a ModelBinding is written by the operator only.',
    kinds: [kinds.modelBinding],
    resources: [`${kinds.modelBinding.plural}/status`],
    variables: [
      isOperator,
      { name: 'before', expression: `oldObject == null ? [] : ${pinnedOf('oldObject')}` },
      { name: 'after', expression: pinnedOf('object') },
    ],
    validations: [
      {
        expression:
          'variables.isOperator || variables.before == variables.after || ' +
          `size(variables.before) == 0 && ${allows(restoreVerb)}`,
        message: 'status.pinned of a ModelBinding is written by the operator only',
        reason: 'Forbidden',
      },
    ],
  },
  ...protectionRules,
];
