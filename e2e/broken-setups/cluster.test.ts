import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import { kinds } from '#resources/kinds';
import { createAuthority, openAuthority } from '../../hack/cluster/certificates/authority.ts';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { bindingObject, guardedBy, policyObject } from '../../operator/testing/objects.ts';
import { type ApiServer, missingApiServer, onApiServer, openApiServer } from '../kube/open-api-server.ts';
import { type KubectlInstallation, openInstallation } from '../kubectl/open-installation.ts';
import { pluginFor } from '../kubectl/run-plugin.ts';
import { createFirstLines } from './first-lines.ts';

const lines = createFirstLines();
const binding = 'chat';

/** Labels of the chart. */
const labelsOf = (component: string) => ({
  'app.kubernetes.io/part-of': 'portcullis',
  'app.kubernetes.io/component': component,
});

/** A container that the namespace admits. */
const container = {
  name: 'gateway',
  image: 'registry.invalid/portcullis:1',
  resources: { requests: { cpu: '1', memory: '1Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

function templateOf(component: string, spec: object = {}) {
  const labels = { ...labelsOf(component), app: component };
  return {
    selector: { matchLabels: { app: component } },
    template: { metadata: { labels }, spec: { automountServiceAccountToken: false, containers: [container], ...spec } },
  };
}

function deployment(name: string, component: string, spec: object = {}): object {
  const metadata = { name, labels: labelsOf(component) };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 1, ...templateOf(component, spec) } };
}

function database(storageClassName: string): object {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'guard-postgres', labels: labelsOf('postgres') },
    spec: {
      replicas: 1,
      serviceName: 'guard-postgres',
      ...templateOf('postgres'),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
    },
  };
}

describe.skipIf(missingApiServer !== undefined)(onApiServer('an installation on a cluster'), () => {
  let server: ApiServer;
  let place: KubectlInstallation;
  beforeAll(async () => {
    // The scheduler and the controllers of Kubernetes are real; the only node is simulated.
    server = await openApiServer({ controllers: true, pretendedNodes: 1 });
    place = await openInstallation(server);
    await place.startOperator();
    await place.startReplica('gateway-1');
    await place.client.create(kinds.guardrailPolicy, policyObject('guard'));
    await place.client.create(kinds.modelBinding, bindingObject(binding, { guardrail: guardedBy(1, 'guard') }));
    await isWell();
  });
  afterAll(async () => {
    console.log(lines.table());
    await place?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const status = () => place.plugin(['status']);
  const why = (name = binding) => place.plugin(['why', name]);
  const isWell = () =>
    until('the installation is well', async () => {
      const [one, other] = [await status(), await why()];
      return one.stdout.startsWith('Operator:') && other.stdout.startsWith(`ModelBinding ${binding} is applied`);
    });
  const apply = (...objects: readonly object[]) =>
    kubectlOk(
      server.controlPlane.kubeconfigFile,
      [`--namespace=${place.client.namespace}`, 'apply', '-f', '-'],
      objects.map((one) => stringify(one)).join('---\n'),
    );
  /** Writes the pod status and the event that a kubelet writes when a pull secret does not exist. */
  async function refusePull(labelSelector: string, secret: string): Promise<true> {
    const { items } = await place.client.list<Pod>(builtinKinds.pod, { labelSelector });
    const [pod] = items.filter(({ status: found }) => found?.phase === 'Running');
    if (pod === undefined) throw new Error('the pod does not run yet');
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' };
    const refused = { name: 'gateway', ready: false, restartCount: 0, image: 'x', imageID: '', state: { waiting } };
    const value = { ...pod.status, containerStatuses: [refused] };
    await place.client.patchStatus(builtinKinds.pod, pod.metadata.name, [{ op: 'add', path: '/status', value }]);
    await apply({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${pod.metadata.name}.1` },
      involvedObject: { kind: 'Pod', name: pod.metadata.name, namespace: place.client.namespace },
      type: 'Warning',
      reason: 'FailedToRetrieveImagePullSecret',
      message: `Unable to retrieve some image pull secrets (${secret}); attempting to pull the image may not succeed.`,
      lastTimestamp: new Date().toISOString(),
    });
    return true;
  }
  const remove = (...words: readonly string[]) => place.namespace.kubectl('delete', '--wait', ...words);
  const both = async (setup: string, cause: RegExp, remedy: RegExp) => {
    await lines.expect(setup, 'kubectl portcullis status', status, cause, remedy);
  };
  /** A policy whose workload is new, so that its pods are created in the present namespace. */
  const bind = async (name: string) => {
    const policy = policyObject(name);
    await place.client.create(kinds.guardrailPolicy, policy);
    await place.client.create(kinds.modelBinding, bindingObject(name, { guardrail: guardedBy(1, name) }));
  };

  test('status names a missing StorageClass', async () => {
    await apply(database('fast-disks'));
    await both(
      'StorageClass missing',
      /PersistentVolumeClaim data-guard-postgres-0 .*"?fast-disks"? not found/,
      /Create the StorageClass/,
    );
    await remove('statefulset/guard-postgres', 'persistentvolumeclaim/data-guard-postgres-0');
  });

  test('status names a pod that cannot be scheduled on any node', async () => {
    await apply(deployment('guard-management', 'management', { nodeSelector: { disk: 'fast' } }));
    await both(
      'pod unschedulable',
      /Pod guard-management-\S+: 0\/1 nodes are available: .*node affinity\/selector/,
      /Free capacity on the nodes or add one/,
    );
    await remove('deployment/guard-management');
  });

  test('status names a pull secret that does not exist', async () => {
    await apply(deployment('guard-management', 'management', { imagePullSecrets: [{ name: 'registry' }] }));
    // There is no kubelet in this cluster, so that the test writes the status of its pod.
    await until('the kubelet reports it', () => refusePull('app=management', 'registry'));
    await both('pull secret missing', /Pod guard-management-\S+: .*pull secrets \(registry\)/, /imagePullSecrets/);
    await remove('deployment/guard-management');
  });

  test('status and why name an exceeded ResourceQuota', async () => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard: { pods: '1' } } };
    await apply(quota, deployment('guard-management', 'management'));
    await both('ResourceQuota exceeded', /Deployment guard-management: .*exceeded quota: few/, /Raise the quota/);
    await bind('over-quota');
    await lines.expect(
      'ResourceQuota exceeded',
      'kubectl portcullis why over-quota',
      () => why('over-quota'),
      /exceeded quota: few/,
      /Raise the quota/,
    );
    await remove('resourcequota/few', 'deployment/guard-management', 'modelbinding/over-quota');
  });

  test('status and why name the admission that refuses pods', async () => {
    const bare = { ...container, securityContext: { privileged: true } };
    await apply(deployment('guard-management', 'management', { containers: [bare] }));
    await both(
      'admission refuses pods',
      /Deployment guard-management: .*violates PodSecurity "restricted/,
      /admission rule/,
    );
    await remove('deployment/guard-management');
  });

  test('status and why name an admission webhook that is absent', async () => {
    const name = 'absent.example.org';
    const webhook = {
      name,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
      timeoutSeconds: 2,
      clientConfig: { service: { namespace: 'nowhere', name: 'absent', path: '/' } },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place.client.namespace } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    };
    await apply(
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name },
        webhooks: [webhook],
      },
      deployment('guard-management', 'management'),
    );
    await both(
      'webhook absent',
      /Deployment guard-management: .*failed calling webhook "absent\.example\.org"/,
      /admission rule/,
    );
    await remove(`validatingwebhookconfiguration/${name}`, 'deployment/guard-management');
  });

  test('status and why name an operator that was stopped, and one that is scaled to zero', async () => {
    await place.stopOperator();
    await place.client.create(kinds.modelBinding, bindingObject('later', { guardrail: guardedBy(1, 'guard') }));
    const cause = /no operator is the leader/i;
    await lines.expect(
      'operator stopped',
      'kubectl portcullis why later',
      () => why('later'),
      cause,
      /Start the operator/,
    );
    await both('operator stopped', cause, /Start the operator/);
    await apply({ ...deployment('guard-operator', 'operator'), spec: { replicas: 0, ...templateOf('operator') } });
    await both(
      'operator scaled to zero',
      /Deployment guard-operator: It is scaled to zero replicas\./,
      /Scale it to one/,
    );
    await remove('deployment/guard-operator', 'modelbinding/later');
    await place.startOperator();
    await isWell();
  });

  test('status and why name problems of the credentials and the server of a kubeconfig', async () => {
    using folder = temporaryFolder();
    const { controlPlane } = server;
    const base = parse(readFileSync(controlPlane.kubeconfigFile, 'utf8'));
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const file = join(folder.path, 'kubeconfig');
    const run =
      (command: string, user: object, cluster: object = {}) =>
      () => {
        const [named] = base.clusters;
        const clusters = [{ ...named, cluster: { ...named.cluster, ...cluster } }];
        writeFileSync(file, stringify({ ...base, clusters, users: [{ ...base.users[0], user }] }));
        return pluginFor(file, place.client.namespace)([...command.split(' '), '--request-timeout', '5']);
      };
    const { user } = base.users[0];
    const past = (days: number) => new Date(Date.now() + days * 86_400_000);
    const authorityAt = (now: Date) => {
      const { caFile } = controlPlane;
      const pair = {
        certificate: readFileSync(caFile, 'utf8'),
        key: readFileSync(join(dirname(caFile), 'ca.key'), 'utf8'),
      };
      return openAuthority(pair, now);
    };
    const issued = (now: Date) => {
      const { certificate, key } = authorityAt(now).issueClient({
        commonName: 'late',
        organizations: ['system:masters'],
      });
      return { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
    };
    const claims = (more: object) => `e30.${Buffer.from(JSON.stringify(more)).toString('base64url')}.c2ln`;
    const seconds = Math.floor(Date.now() / 1_000);
    const cases: readonly (readonly [string, () => ReturnType<typeof status>, RegExp, RegExp])[] = [
      [
        'client certificate expired',
        run('status', issued(past(-400))),
        /The client certificate of the kubeconfig expired at /,
        /renew it/,
      ],
      [
        'client certificate not valid yet',
        run('status', issued(past(2))),
        /client certificate .* not valid before .* the clock of this machine/,
        /set the clock/,
      ],
      [
        'token expired',
        run(`why ${binding}`, { token: claims({ exp: seconds - 60 }) }),
        /The token expired at /,
        /get a new one/,
      ],
      ['token wrong', run('status', { token: 'not-a-token' }), /does not know the credentials/, /log in again/],
      [
        'API server: connection refused',
        run('status', user, { server: `https://127.0.0.1:${await unusedPort()}` }),
        /no program accepts connections at 127/,
        /Start the cluster/,
      ],
      [
        'API server: unknown name',
        run(`why ${binding}`, user, { server: 'https://no-such-host.invalid' }),
        /no-such-host\.invalid cannot be resolved/,
        /Check the DNS/,
      ],
      [
        'API server: unknown authority',
        run('status', user, { 'certificate-authority-data': base64(createAuthority().certificate) }),
        /certificate of the API server .* is not signed by the authority of the kubeconfig/,
        /certificate-authority-data/,
      ],
    ];
    for (const [setup, command, cause, remedy] of cases) {
      await lines.expect(setup, 'kubectl portcullis status|why', command, cause, remedy);
    }
  });
});
