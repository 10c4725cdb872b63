import { type AdmissionRule, admissionRules } from '#resources/admission-rules';
import { type AuthorRule, authorRules } from '#resources/author-rules';
import { group, apiVersion as resourceVersion } from '#resources/kinds';
import { type UserRole, userRoles } from '#resources/user-roles';
import { partOf } from './render-definition.ts';

/** A ValidatingAdmissionPolicy and its binding, by file name. */
export function renderAdmission(): ReadonlyMap<string, readonly unknown[]> {
  return new Map(admissionRules.map((rule) => [`${rule.name}.yaml`, [policyOf(rule), bindingOf(rule)]]));
}

const apiVersion = 'admissionregistration.k8s.io/v1';

function policyOf({ name, description, kinds, resources, operations, params, variables, validations }: AdmissionRule) {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, labels: partOf, annotations: { 'portcullis.dev/description': description } },
    spec: {
      failurePolicy: 'Fail',
      ...(params === undefined ? {} : { paramKind: { apiVersion: resourceVersion, kind: params.kind } }),
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [group],
            apiVersions: ['*'],
            operations: operations ?? ['CREATE', 'UPDATE'],
            resources: resources ?? kinds.map(({ plural }) => plural),
          },
        ],
      },
      variables,
      validations,
    },
  };
}

function bindingOf({ name, params }: AdmissionRule) {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name, labels: partOf },
    spec: {
      policyName: name,
      // If the reference has no namespace, the API server uses objects in the namespace of the request.
      ...(params === undefined ? {} : { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }),
      validationActions: ['Deny'],
    },
  };
}

/** A MutatingAdmissionPolicy and its binding, by file name. Kubernetes has them from 1.36 on. */
export function renderAuthors(): ReadonlyMap<string, readonly unknown[]> {
  return new Map(
    authorRules.map((rule) => [
      `${rule.name}.yaml`,
      [
        authorPolicyOf(rule),
        {
          apiVersion,
          kind: 'MutatingAdmissionPolicyBinding',
          metadata: { name: rule.name, labels: partOf },
          spec: { policyName: rule.name },
        },
      ],
    ]),
  );
}

function authorPolicyOf({ name, description, kinds, annotation, variables }: AuthorRule) {
  const path = `'/metadata/annotations/${annotation.replace('/', '~1')}'`;
  return {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name, labels: partOf, annotations: { 'portcullis.dev/description': description } },
    spec: {
      failurePolicy: 'Fail',
      // A webhook may change the spec afterwards.
      reinvocationPolicy: 'IfNeeded',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [group],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE'],
            resources: kinds.map(({ plural }) => plural),
          },
        ],
      },
      variables,
      mutations: [
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression: [
              'variables.author == variables.sent ? [] :',
              `size(variables.author) == 0 ? [JSONPatch{op: 'remove', path: ${path}}] :`,
              `has(object.metadata.annotations) ? [JSONPatch{op: 'add', path: ${path}, value: variables.author[0]}] :`,
              `[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'${annotation}': variables.author[0]}}]`,
            ].join(' '),
          },
        },
      ],
    },
  };
}

/** The ClusterRoles of users, by file name. */
export function renderRoles(): ReadonlyMap<string, readonly unknown[]> {
  return new Map(userRoles.map((role) => [`${role.name}.yaml`, [roleOf(role)]]));
}

function roleOf({ name, description, aggregatedTo, rules }: UserRole) {
  const aggregation = aggregatedTo.map((target) => [`rbac.authorization.k8s.io/aggregate-to-${target}`, 'true']);
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name,
      labels: { ...partOf, ...Object.fromEntries(aggregation) },
      annotations: { 'portcullis.dev/description': description },
    },
    rules: rules.map(({ apiGroup = group, resources, verbs }) => ({ apiGroups: [apiGroup], resources, verbs })),
  };
}
