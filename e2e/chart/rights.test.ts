import { describe, expect, test } from 'vitest';
import { allowedRights } from './allowed-rights.ts';
import { missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, type Rendered, renderFile, valuesFiles } from './tools/render-chart.ts';

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
};
type Binding = Rendered & {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
};

function rightsOf(role: Rendered): readonly string[] {
  return (role['rules'] as readonly Rule[])
    .flatMap(({ apiGroups, resources, resourceNames = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.map((resource) => {
          const names = resourceNames.length === 0 ? '' : ` ${resourceNames.join(' ')}`;
          return `${group}/${resource}${names}: ${[...verbs].sort().join(' ')}`;
        }),
      ),
    )
    .toSorted();
}

const componentOf = ({ metadata }: Rendered): string => metadata.labels?.['app.kubernetes.io/component'] ?? '';

describe.each(valuesFiles)('the rights of %s', (file) => {
  skipWithout(missingHelm);
  test('the chart grants exactly the listed rights, each in a Role of its component', async () => {
    const objects = await renderFile(file);
    const roles = ofKind(objects, 'Role');
    const hasAgents = ofKind(objects, 'ServiceAccount').some(({ metadata }) => metadata.name.endsWith('-agent'));
    const roleOf = (component: string): string =>
      component === 'gateway' && hasAgents ? 'gateway of agents' : component;
    expect(new Set(roles.map(componentOf)).size).toBe(roles.length);
    for (const role of roles)
      expect(rightsOf(role), role.metadata.name).toEqual(allowedRights[roleOf(componentOf(role))]);
    const managed = /^(least|retrieval)/.test(file) ? [] : ['management'];
    expect(roles.map(componentOf)).toEqual(expect.arrayContaining(['operator', 'gateway', ...managed]));
  });

  test('processes have rights in their namespace only, and each Role is bound to the account of its component only', async () => {
    const objects = await renderFile(file);
    expect(ofKind(objects, 'ClusterRoleBinding')).toEqual([]);
    const bindings = ofKind(objects, 'RoleBinding') as readonly Binding[];
    expect(bindings.map(({ roleRef }) => roleRef.name).toSorted()).toEqual(
      ofKind(objects, 'Role')
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    );
    for (const { roleRef, subjects, metadata } of bindings) {
      expect(roleRef, metadata.name).toMatchObject({ kind: 'Role', name: metadata.name });
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name: metadata.name, namespace: 'safety' }]);
    }
  });

  test('roles for users name no secrets, no wildcards and no foreign API group', async () => {
    const roles = ofKind(await renderFile(file), 'Role', 'ClusterRole');
    for (const role of roles) {
      const text = JSON.stringify(role['rules']);
      expect(text, role.metadata.name).not.toMatch(/\*|secrets|pods\/exec|impersonate|escalate|"bind"/);
    }
    for (const role of ofKind(roles, 'ClusterRole')) {
      // Reading pods and their logs is in a separate role, so that it can be granted separately.
      const isOfProcesses = role.metadata.name === 'portcullis-process-viewer';
      for (const { apiGroups, verbs } of role['rules'] as readonly Rule[]) {
        if (isOfProcesses)
          expect(['get', 'list', 'watch'], role.metadata.name).toEqual(expect.arrayContaining([...verbs]));
        else expect(apiGroups, role.metadata.name).toEqual(['portcullis.dev']);
      }
      expect(role).not.toHaveProperty('aggregationRule');
    }
  });

  test('service accounts do not mount a token automatically', async () => {
    const accounts = ofKind(await renderFile(file), 'ServiceAccount');
    expect(accounts.map(componentOf)).toEqual(expect.arrayContaining(['operator', 'gateway', 'runtime']));
    for (const account of accounts) expect(account['automountServiceAccountToken'], account.metadata.name).toBe(false);
  });
});
