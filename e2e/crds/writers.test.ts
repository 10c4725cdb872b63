import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { userRoles } from '#resources/user-roles';
import { fullObjects } from './full-objects.ts';
import { type ApiObject, collection, item, testNamespace, useTestApi } from './test-api.ts';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const read = ['get', 'list', 'watch'];
const write = [...read, 'create', 'update', 'patch', 'delete'];

/** Verbs of a role on user-written and on Portcullis-written resources. */
const rights = [
  ['portcullis-viewer', read, read],
  ['portcullis-editor', write, read],
  ['portcullis-admin', verbs, verbs],
  ['view', read, read],
  ['edit', write, read],
  ['admin', write, read],
] as const;

const elsewhere = `${testNamespace}-elsewhere`;
const core = `/api/v1/namespaces/${testNamespace}`;

describe('roles and writers', () => {
  // The controllers of the shared API server aggregate these roles into the built-in roles.
  const api = useTestApi();

  test.each(rights)('the role %s grants exactly its rights', async (role, own, internal) => {
    const user = `user-of-${role}`;
    await api.kubectlOk([
      'create',
      'rolebinding',
      user,
      `--clusterrole=${role}`,
      `--user=${user}`,
      `--namespace=${testNamespace}`,
    ]);
    const allowed = async (verb: string, resource: string): Promise<boolean> => {
      const { body } = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, resourceAttributes: { namespace: testNamespace, verb, group: 'portcullis.dev', resource } },
        },
      });
      return (body.status as { readonly allowed: boolean }).allowed;
    };
    await until('the role is in force', () => allowed('get', 'guardrailpolicies'));
    await until('its last rule is in force', () => allowed(own.at(-1) ?? '', 'modelbindings'));
    for (const kind of Object.values(kinds)) {
      const wanted: readonly string[] = kind.internal ? internal : own;
      for (const verb of verbs) {
        expect(await allowed(verb, kind.plural), `${verb} ${kind.plural}`).toBe(wanted.includes(verb));
      }
      const restores = role === 'portcullis-admin' && kind === kinds.modelBinding;
      expect(await allowed('patch', `${kind.plural}/status`)).toBe(restores);
      expect(await allowed('update', `${kind.plural}/status`)).toBe(false);
      expect(await allowed('write-any', kind.plural)).toBe(false);
      expect(await allowed('operate', kind.plural)).toBe(false);
      const isRoute = kind === kinds.gatewayRoute;
      expect(await allowed('restore', kind.plural)).toBe(role === 'portcullis-admin' && isRoute);
    }
  });

  test('the role portcullis-process-viewer grants the logs of pods and no resource of Portcullis, no Secret and no write', async () => {
    const user = 'user-of-processes';
    const inNamespace = `--namespace=${testNamespace}`;
    const role = '--clusterrole=portcullis-process-viewer';
    await api.kubectlOk(['create', 'rolebinding', user, role, `--user=${user}`, inNamespace]);
    const allowed = async (verb: string, resource: string, ...more: readonly string[]): Promise<boolean> =>
      (await api.kubectl(['auth', 'can-i', verb, resource, `--as=${user}`, inNamespace, ...more])).code === 0;
    await until('the role is in force', () => allowed('get', 'pods', '--subresource=log'));
    expect(await allowed('create', 'pods', '--subresource=exec')).toBe(false);
    for (const resource of ['pods', 'events', 'persistentvolumeclaims', 'deployments.apps', 'statefulsets.apps']) {
      expect(await allowed('list', resource), resource).toBe(true);
      expect(await allowed('delete', resource), resource).toBe(false);
    }
    for (const resource of ['secrets', 'configmaps', 'guardrailpolicies.portcullis.dev']) {
      expect(await allowed('get', resource), resource).toBe(false);
    }
  });

  test('no role of the chart contains a wildcard', () => {
    expect(JSON.stringify(userRoles)).not.toContain('*');
  });

  test('only the service account of the operator writes routes, workloads and pins', async () => {
    await api.send('POST', `${core}/serviceaccounts`, { body: { metadata: { name: 'portcullis-operator' } } });
    await api.send('POST', `${core}/serviceaccounts`, { body: { metadata: { name: 'other' } } });
    const tokenOfAccount = async (account: string): Promise<string> => {
      const { body } = await api.send('POST', `${core}/serviceaccounts/${account}/token`, {
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
      });
      return (body.status as { readonly token: string }).token;
    };
    const rules = (verbs: readonly string[]) => [
      {
        apiGroups: ['portcullis.dev'],
        resources: [
          'gatewayroutes',
          'agentroutes',
          'runtimeworkloads',
          'runtimeworkloads/status',
          'modelbindings',
          'modelbindings/status',
        ],
        verbs,
      },
    ];
    const grant = async (name: string, account: string, verbs: readonly string[]): Promise<void> => {
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${testNamespace}`;
      await api.send('POST', `${rbac}/roles`, { body: { metadata: { name }, rules: rules(verbs) } });
      const subjects = [{ kind: 'ServiceAccount', name: account, namespace: testNamespace }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
      await api.send('POST', `${rbac}/rolebindings`, { body: { metadata: { name }, roleRef, subjects } });
    };
    await grant('operates', 'portcullis-operator', ['get', 'create', 'patch', 'operate']);
    await grant('writes', 'other', ['get', 'create', 'patch']);
    const [operator, other] = [await tokenOfAccount('portcullis-operator'), await tokenOfAccount('other')];
    const refused = { status: 403, body: { message: expect.stringContaining('written by the operator only') } };

    const internal = [
      ['gatewayroutes', fullObjects.gatewayRoute, [{ op: 'replace', path: '/spec/state', value: 'Disabled' }], ''],
      ['agentroutes', fullObjects.agentRoute, [{ op: 'replace', path: '/spec/exposure', value: 'R2' }], ''],
      ['runtimeworkloads', fullObjects.runtimeWorkload, [{ op: 'replace', path: '/spec/replicas', value: 3 }], ''],
      [
        'runtimeworkloads',
        fullObjects.runtimeWorkload,
        [{ op: 'add', path: '/status', value: { state: 'Ready' } }],
        '/status',
      ],
    ] as const;
    const label = [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }];
    for (const [plural, object, change, subresource] of internal) {
      const name = `written-${plural}${subresource.slice(1)}`;
      const body = { ...object, metadata: { name } };
      const create = (token: string) => api.send('POST', collection(plural), { body, token });
      const patch = (token: string, body: unknown, at = '') =>
        api.send('PATCH', item(plural, `${name}${at}`), { body, token, contentType: 'application/json-patch+json' });
      await until('the policies are in force', async () => {
        const answer = await create(other);
        expect(answer).toMatchObject(refused);
        return true;
      });
      expect((await create(operator)).status).toBe(201);
      expect(await patch(other, change, subresource)).toMatchObject(refused);
      expect(await patch(other, label)).toMatchObject(refused);
      expect((await patch(operator, change, subresource)).status).toBe(200);
    }

    const binding = { ...fullObjects.modelBinding, metadata: { name: 'pinned' } };
    expect((await api.send('POST', collection('modelbindings'), { body: binding, token: other })).status).toBe(201);
    const pin = (token: string, generationId: string) =>
      api.send('PATCH', item('modelbindings', 'pinned/status'), {
        body: [{ op: 'add', path: '/status', value: { pinned: { generationId } } }],
        token,
        contentType: 'application/json-patch+json',
      });
    expect(await pin(other, 'one')).toMatchObject(refused);
    expect((await pin(operator, 'one')).status).toBe(200);
    expect(await pin(other, 'two')).toMatchObject(refused);
  });

  test('a Collection of an earlier resource is created with the right to restore only, and its UID never changes', async () => {
    const user = 'user-who-declares';
    const role = '--clusterrole=portcullis-editor';
    await api.kubectlOk(['create', 'rolebinding', user, role, `--user=${user}`, `--namespace=${testNamespace}`]);
    await api.send('POST', `${core}/serviceaccounts`, { body: { metadata: { name: user } } });
    const account = `--serviceaccount=${testNamespace}:${user}`;
    await api.kubectlOk(['create', 'rolebinding', `${user}-2`, role, account, `--namespace=${testNamespace}`]);
    const made = await api.send('POST', `${core}/serviceaccounts/${user}/token`, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    });
    const { token } = made.body.status as { readonly token: string };
    const annotation = 'portcullis.dev/restored-uid';
    const body = (name: string, uid?: string) => ({
      ...fullObjects.collection,
      metadata: { name, ...(uid === undefined ? {} : { annotations: { [annotation]: uid } }) },
    });
    const create = (name: string, uid?: string, as?: string) =>
      api.send('POST', collection('collections'), {
        body: body(name, uid),
        ...(as === undefined ? {} : { token: as }),
      });
    const refused = { status: 422, body: { message: expect.stringContaining('set by a restore only') } };
    await until(
      'the role is in force',
      async () => (await create(`plain-${Date.now()}`, undefined, token)).status === 201,
    );
    expect(await create('taken-over', 'one', token)).toMatchObject(refused);
    expect((await create('restored', 'one')).status).toBe(201);
    const patch = (name: string, annotations: unknown) =>
      api.send('PATCH', item('collections', name), {
        body: { metadata: { annotations } },
        contentType: 'application/merge-patch+json',
      });
    expect(await patch('restored', { [annotation]: 'two' })).toMatchObject(refused);
    expect(await patch('restored', { [annotation]: null })).toMatchObject(refused);
    expect((await patch('restored', { other: 'x' })).status).toBe(200);
    expect((await create('unmarked')).status).toBe(201);
    expect(await patch('unmarked', { [annotation]: 'one' })).toMatchObject(refused);
  });

  describe('a report', () => {
    const reportOf = (name: string) => ({ ...fullObjects.gatewayReport, metadata: { name } });

    /** A service account token, bound to the pod of this name or to no pod. */
    async function tokenOf(pod: string | undefined, inNamespace = testNamespace): Promise<string> {
      const place = core.replace(testNamespace, inNamespace);
      const bound = pod === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod } };
      const { body } = await api.send('POST', `${place}/serviceaccounts/gateway/token`, {
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: bound },
      });
      return (body.status as { readonly token: string }).token;
    }

    async function addReplica(pod: string, inNamespace = testNamespace): Promise<string> {
      const place = core.replace(testNamespace, inNamespace);
      await api.send('POST', `${place}/serviceaccounts`, { body: { metadata: { name: 'gateway' } } });
      const spec = { serviceAccountName: 'gateway', containers: [{ name: 'gateway', image: 'none' }] };
      const created = await api.send('POST', `${place}/pods`, { body: { metadata: { name: pod }, spec } });
      expect(created.status, created.body.message).toBe(201);
      return tokenOf(pod, inNamespace);
    }

    /** The narrowest right that RBAC offers: every report of the namespace. */
    async function allowReports(inNamespace: string): Promise<void> {
      const role = [
        `--namespace=${testNamespace}`,
        '--verb=get,create,update,patch',
        '--resource=gatewayreports.portcullis.dev',
      ];
      await api.kubectl(['create', 'role', 'reports', ...role]);
      const subject = `--serviceaccount=${inNamespace}:gateway`;
      await api.kubectlOk([
        'create',
        'rolebinding',
        `reports-${inNamespace}`,
        '--role=reports',
        subject,
        `--namespace=${testNamespace}`,
      ]);
    }

    const post = (name: string, token: string) =>
      api.send('POST', collection('gatewayreports'), { body: reportOf(name), token });
    const refusal = {
      status: 403,
      body: { message: expect.stringContaining('written by the replica whose name it bears') },
    };

    test('a GatewayReport can be written only by the gateway replica of its name', async () => {
      const [one, other] = [await addReplica('gateway-a'), await addReplica('gateway-b')];
      await allowReports(testNamespace);
      const created = await until('the right is in force', async () => {
        const answer = await post('gateway-a', one);
        return answer.status === 201 && answer;
      });
      expect(await post('gateway-a', other)).toMatchObject(refusal);
      expect(await post('gateway-c', one)).toMatchObject(refusal);
      expect(await post('gateway-c', await tokenOf(undefined))).toMatchObject(refusal);

      const change = [{ op: 'replace', path: '/spec/ready', value: false }];
      const patch = (token: string, body: unknown) =>
        api.send('PATCH', item('gatewayreports', 'gateway-a'), {
          body,
          token,
          contentType: 'application/json-patch+json',
        });
      expect(await patch(other, change)).toMatchObject(refusal);
      expect(await patch(one, change)).toMatchObject({ status: 200 });
      // The garbage collector updates metadata of reports.
      const label = [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }];
      expect(await patch(other, label)).toMatchObject({ status: 200 });
      expect(created.body.metadata).toMatchObject({ name: 'gateway-a' });
    });

    test('a pod of the same name in another namespace cannot write a GatewayReport', async () => {
      await api.kubectlOk(['create', 'namespace', elsewhere]);
      const token = await addReplica('gateway-d', elsewhere);
      await allowReports(elsewhere);
      await until('the right is in force', async () => {
        const { body } = await api.send('GET', item('gatewayreports', 'none', ''), { token });
        return (body as ApiObject & { code?: number }).code === 404;
      });
      expect(await post('gateway-d', token)).toMatchObject(refusal);
    });

    test('a subject with the right write-any may write the GatewayReport of any replica', async () => {
      const path = collection('gatewayreports');
      expect(await api.send('POST', path, { body: reportOf('restored') })).toMatchObject({ status: 201 });
    });
  });
});
