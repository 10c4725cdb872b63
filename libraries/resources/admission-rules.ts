import { group, idLabel, type Kind, kinds } from './kinds.ts';

/** A rule on labels or on the writer, which CEL in a CustomResourceDefinition cannot see. */
export type AdmissionRule = {
  /** Name of the ValidatingAdmissionPolicy and of its binding. */
  readonly name: string;
  readonly description: string;
  readonly kinds: readonly Kind[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly {
    readonly expression: string;
    readonly message: string;
    readonly reason: 'Invalid' | 'Forbidden';
  }[];
};

/** The form of an id: a UUID of version 7 in lower case (RFC 9562 §5.7). */
export const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const idFormMessage = `the label ${idLabel} is a UUID of version 7 in lower case`;
export const idChangeMessage = `the label ${idLabel} is set once and never changes`;

/** A right that no role of ours gives: to write reports in the name of any replica. */
const writeAnyVerb = 'write-any';

const labelsOf = (object: string): string =>
  `${object} != null && has(${object}.metadata.labels) ? ${object}.metadata.labels : {}`;
const has = (labels: string): string => `'${idLabel}' in variables.${labels}`;
const value = (labels: string): string => `variables.${labels}['${idLabel}']`;

const podName = 'authentication.kubernetes.io/pod-name';

/** `immutability.ts` and `identity.ts` check the same in TypeScript, except the writer, which only the API server knows. */
export const admissionRules: readonly AdmissionRule[] = [
  {
    name: `ids.${group}`,
    description: 'The id of the management API is set once, in its form.',
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
];
