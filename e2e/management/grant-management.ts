import { writeFileSync } from 'node:fs';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import type { ApiServer } from '../kube/open-api-server.ts';

/** All rights of the management API in its namespace. */
export const managementRules = [
  {
    apiGroups: ['portcullis.dev'],
    resources: ['guardrailpolicies', 'policyrevisions', 'modelbindings', 'gatewayroutes'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: ['portcullis.dev'], resources: ['gatewayreports'], verbs: ['list', 'watch'] },
  { apiGroups: ['portcullis.dev'], resources: ['agents'], verbs: ['list', 'watch'] },
  { apiGroups: ['portcullis.dev'], resources: ['agentversions'], verbs: ['get', 'list'] },
  { apiGroups: ['portcullis.dev'], resources: ['runtimeworkloads'], verbs: ['list'] },
  { apiGroups: ['portcullis.dev'], resources: ['guardrailpolicies', 'policyrevisions'], verbs: ['create'] },
  {
    apiGroups: ['portcullis.dev'],
    resources: ['guardrailpolicies', 'policyrevisions', 'modelbindings'],
    verbs: ['patch'],
  },
  { apiGroups: ['portcullis.dev'], resources: ['guardrailpolicies'], verbs: ['state-author'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
] as const;

const name = 'management';

/**
 * Creates an account with exactly these rights in a namespace and writes its token, so that a missing right causes a
 * failure.
 */
export async function grantManagement(server: ApiServer, namespace: string, tokenFile: string): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io';
  const metadata = { name, namespace };
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules: managementRules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
  const { kubeconfigFile } = server.controlPlane;
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  await kubectlOk(kubeconfigFile, ['apply', '--filename=-'], list);
  writeFileSync(tokenFile, await server.kubectl('-n', namespace, 'create', 'token', name, '--duration=4h'));
}
