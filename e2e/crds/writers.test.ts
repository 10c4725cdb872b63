import { describe, expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import { userRoles } from '#resources/user-roles';
import { until } from '../support/until.ts';
import { fullObjects } from './full-objects.ts';
import { type ApiObject, collection, item, namespace, useTestApi } from './test-api.ts';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const read = ['get', 'list', 'watch'];
const write = [...read, 'create', 'update', 'patch', 'delete'];

/** What a role may do with what people write, and with what Portcullis writes. */
const rights = [
  ['portcullis-viewer', read, read],
  ['portcullis-editor', write, read],
  ['portcullis-admin', verbs, verbs],
  ['view', read, read],
  ['edit', write, read],
  ['admin', write, read],
] as const;

const core = '/api/v1/namespaces/test';

describe('who writes', () => {
  // The controllers put our roles into the built-in ones.
  const api = useTestApi({ controllers: true });

  test.each(rights)('the role %s', async (role, own, internal) => {
    const user = `user-of-${role}`;
    await api.kubectlOk([
      'create',
      'rolebinding',
      user,
      `--clusterrole=${role}`,
      `--user=${user}`,
      `--namespace=${namespace}`,
    ]);
    const allowed = async (verb: string, resource: string): Promise<boolean> => {
      const { body } = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, resourceAttributes: { namespace, verb, group: 'portcullis.dev', resource } },
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
    }
  });

  test('no role has a wildcard', () => {
    expect(JSON.stringify(userRoles)).not.toContain('*');
  });

  describe('a report', () => {
    const reportOf = (name: string) => ({ ...fullObjects.gatewayReport, metadata: { name } });

    /** A token of a service account, as a pod of the name gets it, or one that belongs to no pod. */
    async function tokenOf(pod: string | undefined, inNamespace = namespace): Promise<string> {
      const place = core.replace('test', inNamespace);
      const bound = pod === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod } };
      const { body } = await api.send('POST', `${place}/serviceaccounts/gateway/token`, {
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: bound },
      });
      return (body.status as { readonly token: string }).token;
    }

    async function addReplica(pod: string, inNamespace = namespace): Promise<string> {
      const place = core.replace('test', inNamespace);
      await api.send('POST', `${place}/serviceaccounts`, { body: { metadata: { name: 'gateway' } } });
      const spec = { serviceAccountName: 'gateway', containers: [{ name: 'gateway', image: 'none' }] };
      const created = await api.send('POST', `${place}/pods`, { body: { metadata: { name: pod }, spec } });
      expect(created.status, created.body.message).toBe(201);
      return tokenOf(pod, inNamespace);
    }

    /** The right that RBAC can give: to every report of the namespace. */
    async function allowReports(inNamespace: string): Promise<void> {
      const role = [
        `--namespace=${namespace}`,
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
        `--namespace=${namespace}`,
      ]);
    }

    const post = (name: string, token: string) =>
      api.send('POST', collection('gatewayreports'), { body: reportOf(name), token });
    const refusal = {
      status: 403,
      body: { message: expect.stringContaining('written by the replica whose name it bears') },
    };

    test('is written by the replica whose name it bears', async () => {
      const [one, other] = [await addReplica('gateway-a'), await addReplica('gateway-b')];
      await allowReports(namespace);
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
      // The garbage collector changes metadata of what others wrote.
      const label = [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }];
      expect(await patch(other, label)).toMatchObject({ status: 200 });
      expect(created.body.metadata).toMatchObject({ name: 'gateway-a' });
    });

    test('is not written by a pod of the same name elsewhere', async () => {
      await api.kubectlOk(['create', 'namespace', 'elsewhere']);
      const token = await addReplica('gateway-d', 'elsewhere');
      await allowReports('elsewhere');
      await until('the right is in force', async () => {
        const { body } = await api.send('GET', item('gatewayreports', 'none', ''), { token });
        return (body as ApiObject & { code?: number }).code === 404;
      });
      expect(await post('gateway-d', token)).toMatchObject(refusal);
    });

    test('is written for any replica by who holds the right write-any', async () => {
      const path = collection('gatewayreports');
      expect(await api.send('POST', path, { body: reportOf('restored') })).toMatchObject({ status: 201 });
    });
  });
});
