import { annotationsOf, writeAnyVerb } from './admission-rules.ts';
import { appliedByAnnotation, group, type Kind, kinds, writtenByAnnotation } from './kinds.ts';

/** An annotation that the API server sets to the name of the user who makes a change; no user can choose its value. */
export type AuthorRule = {
  /** Name of the MutatingAdmissionPolicy and of its binding. */
  readonly name: string;
  readonly description: string;
  readonly kinds: readonly Kind[];
  readonly annotation: string;
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
};

/**
 * The right of the operator and the management API, on policies: their writes have the author whom they state. It is a right
 * of service accounts of the namespace of the object only.
 */
const stateAuthorVerb = 'state-author';

const allows = (verb: string): string =>
  `authorizer.group('${group}').resource('${kinds.guardrailPolicy.plural}').namespace(request.namespace)` +
  `.check('${verb}').allowed()`;

/** An account with every right is no process of Portcullis: it also has the right that no role grants. */
const isProcess = {
  name: 'isProcess',
  expression:
    "request.userInfo.username.startsWith('system:serviceaccount:' + request.namespace + ':') && " +
    `${allows(stateAuthorVerb)} && !${allows(writeAnyVerb)}`,
};

/** @param changed CEL: whether an update is a change that has an author */
function variablesOf(annotation: string, changed: string): AuthorRule['variables'] {
  const listed = (map: string): string => `'${annotation}' in ${map} ? [${map}['${annotation}']] : []`;
  return [
    isProcess,
    { name: 'before', expression: annotationsOf('oldObject') },
    { name: 'after', expression: annotationsOf('object') },
    { name: 'isChange', expression: `oldObject == null || ${changed}` },
    { name: 'sent', expression: listed('variables.after') },
    {
      name: 'author',
      expression: `variables.isChange ? (variables.isProcess ? [] : [request.userInfo.username]) : ${listed('variables.before')}`,
    },
  ];
}

/** The object is not validated yet: any member may be absent. */
const differs = (member: string): string => `object.?${member} != oldObject.?${member}`;

export const authorRules: readonly AuthorRule[] = [
  {
    name: `written-by.${group}`,
    description: 'The user who wrote the spec is named in an annotation that no user can set.',
    kinds: [kinds.guardrailPolicy, kinds.policyRevision, kinds.modelBinding, kinds.agent],
    annotation: writtenByAnnotation,
    variables: variablesOf(writtenByAnnotation, differs('spec')),
  },
  {
    name: `applied-by.${group}`,
    description:
      'The user who requested the application of a ModelBinding is named in an annotation that no user can set.',
    kinds: [kinds.modelBinding],
    annotation: appliedByAnnotation,
    variables: variablesOf(
      appliedByAnnotation,
      ['guardrail', 'contentProfile', 'apply'].map((member) => differs(`spec.?${member}`)).join(' || '),
    ),
  },
];
