import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../client/kube-object.ts';
import { differenceOperations } from './object-difference.ts';
import { sameQuantity } from './same-quantity.ts';

const metadata = { name: 'g-1', labels: { app: 'one' } };

function object(kind: string, content: object, change: object = {}): KubeObject {
  return { ...content, apiVersion: 'v1', kind, metadata: { ...metadata, ...change } };
}

const probe = { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 2 };
const container = {
  name: 'runtime',
  image: 'a',
  resources: { limits: { cpu: '1000m', memory: '1024Mi' } },
  ports: [{ name: 'http', containerPort: 8_000 }],
  readinessProbe: probe,
};
const pod = { serviceAccountName: 'runtime', tolerations: [], containers: [container] };
const selector = { matchLabels: { workload: 'g-1' } };
const deployment = (spec: object = pod, change: object = {}) =>
  object('Deployment', {
    spec: { replicas: 1, selector, template: { metadata: { labels: { workload: 'g-1' } }, spec }, ...change },
  });

const liveContainer = {
  ...container,
  resources: { limits: { cpu: '1', memory: '1Gi' } },
  ports: [{ name: 'http', containerPort: 8_000, protocol: 'TCP' }],
  readinessProbe: {
    ...probe,
    httpGet: { ...probe.httpGet, scheme: 'HTTP' },
    failureThreshold: 3,
    successThreshold: 1,
    timeoutSeconds: 1,
  },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};
const livePod = {
  serviceAccountName: 'runtime',
  serviceAccount: 'runtime',
  containers: [liveContainer],
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
};
const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } };
const defaults = { progressDeadlineSeconds: 600, revisionHistoryLimit: 10, strategy };
const live = (spec: object = livePod, change: object = {}) => deployment(spec, { ...defaults, ...change });

const service = (change: object = {}) =>
  object('Service', {
    spec: { selector: { workload: 'g-1' }, ports: [{ port: 8_000, targetPort: 'http' }], ...change },
  });
const liveService = (change: object = {}) =>
  service({
    type: 'ClusterIP',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ port: 8_000, targetPort: 'http', protocol: 'TCP' }],
    ...change,
  });

const rule = { from: [{ podSelector: { matchLabels: { part: 'portcullis' } } }], ports: [{ port: 8_000 }] };
const policy = (ingress: readonly object[] = [rule], change: object = {}) =>
  object('NetworkPolicy', { spec: { podSelector: selector, ingress, egress: [], ...change } });
const config = (content: object) => object('ConfigMap', content);

describe('members that need no patch operation', () => {
  test.each<readonly [string, KubeObject, KubeObject]>([
    ['a Deployment with the defaults of the server', live(), deployment()],
    ['a Service with the defaults and the addresses of the server', liveService(), service()],
    [
      'an empty list that the server leaves out',
      object('NetworkPolicy', { spec: { podSelector: selector, ingress: [rule] } }),
      policy(),
    ],
    ['a port with the default protocol', policy([{ ...rule, ports: [{ port: 8_000, protocol: 'TCP' }] }]), policy()],
    ['labels and annotations of other writers', deployment(), object('Deployment', deployment(), { labels: {} })],
    ['a status', { ...deployment(), status: { replicas: 1 } }, deployment()],
    ['a desired member that is undefined', config({}), config({ immutable: undefined })],
    [
      'the mark of `kubectl rollout restart`',
      deployment(pod, {
        template: { metadata: { annotations: { a: 'b', 'kubectl.kubernetes.io/restartedAt': 'x' } }, spec: pod },
      }),
      deployment(pod, { template: { metadata: { annotations: { a: 'b' } }, spec: pod } }),
    ],
  ])('no patch operation is needed for %s', (_name, current, desired) =>
    expect(differenceOperations(current, desired)).toEqual([]),
  );
});

describe('members that another writer added', () => {
  const inPod = '/spec/template/spec';
  const livePodWith = (members: object) => live({ ...livePod, ...members });
  const liveContainerWith = (members: object) => livePodWith({ containers: [{ ...liveContainer, ...members }] });
  const nodePort = { port: 8_000, targetPort: 'http', protocol: 'TCP', nodePort: 30_000 };
  const expression = { ...selector, matchExpressions: [{ key: 'a', operator: 'Exists' }] };
  const peer = { ...rule.from[0], namespaceSelector: {} };
  const oneKey = { data: { a: 'b' } };
  const desiredOf: Readonly<Record<string, KubeObject>> = {
    Service: service(),
    NetworkPolicy: policy(),
    Deployment: deployment(),
    ConfigMap: config(oneKey),
  };

  test.each<readonly [string, KubeObject, string]>([
    ['a selector entry of a Service', liveService({ selector: { workload: 'g-1', app: 'x' } }), '/spec/selector/app'],
    ['external addresses of a Service', liveService({ externalIPs: ['1.2.3.4'] }), '/spec/externalIPs'],
    ['another value of a default', liveService({ sessionAffinity: 'ClientIP' }), '/spec/sessionAffinity'],
    ['a node port', liveService({ ports: [nodePort] }), '/spec/ports/0/nodePort'],
    [
      'a label that a NetworkPolicy selects by',
      policy([rule], { podSelector: { matchLabels: { workload: 'g-1', app: 'x' } } }),
      '/spec/podSelector/matchLabels/app',
    ],
    ['an expression', policy([rule], { podSelector: expression }), '/spec/podSelector/matchExpressions'],
    ['a selector in a peer', policy([{ ...rule, from: [peer] }]), '/spec/ingress/0/from/0/namespaceSelector'],
    ['a node selector', livePodWith({ nodeSelector: { disk: 'x' } }), `${inPod}/nodeSelector`],
    ['the network of the host', livePodWith({ hostNetwork: true }), `${inPod}/hostNetwork`],
    ['an init container', livePodWith({ initContainers: [{ name: 'x' }] }), `${inPod}/initContainers`],
    ['a volume', livePodWith({ volumes: [{ name: 'x' }] }), `${inPod}/volumes`],
    ['another account', livePodWith({ serviceAccount: 'admin' }), `${inPod}/serviceAccount`],
    ['a variable', liveContainerWith({ env: [{ name: 'A', value: 'b' }] }), `${inPod}/containers/0/env`],
    ['a hook of a container', liveContainerWith({ lifecycle: {} }), `${inPod}/containers/0/lifecycle`],
    ['a pause of a Deployment', live(livePod, { paused: true }), '/spec/paused'],
    ['a key of a ConfigMap', config({ data: { a: 'b', c: 'd' } }), '/data/c'],
    ['binary data of a ConfigMap', config({ ...oneKey, binaryData: { c: 'ZA==' } }), '/binaryData'],
  ])('a member that another writer added is removed: %s', (_name, current, path) => {
    expect(differenceOperations(current, desiredOf[current.kind] as KubeObject)).toEqual([{ op: 'remove', path }]);
  });
});

describe('members that differ', () => {
  const inPod = '/spec/template/spec';
  const containers = (members: object) => deployment({ ...pod, containers: [{ ...container, ...members }] });
  const twoContainers = live({ ...livePod, containers: [liveContainer, { name: 'x' }] });
  const tolerant = live({ ...livePod, tolerations: [{ operator: 'Exists' }] });
  const labelled = object('Deployment', deployment(), { labels: { 'a/b~c': 'd' } });
  const limits = { cpu: '2', memory: '1Gi' };

  test.each<readonly [string, KubeObject, KubeObject, 'add' | 'replace', string, unknown]>([
    ['a scalar', live(), deployment(pod, { replicas: 2 }), 'replace', '/spec/replicas', 2],
    ['a new member', live(), deployment(pod, { paused: false }), 'add', '/spec/paused', false],
    ['a label with a slash', deployment(), labelled, 'add', '/metadata/labels/a~1b~0c', 'd'],
    ['an item of a list', live(), containers({ image: 'b' }), 'replace', `${inPod}/containers/0/image`, 'b'],
    ['a list of another length', twoContainers, deployment(), 'replace', `${inPod}/containers`, [container]],
    [
      'another quantity',
      live(),
      containers({ resources: { limits } }),
      'replace',
      `${inPod}/containers/0/resources/limits/cpu`,
      '2',
    ],
    ['another type', live(), deployment(pod, { replicas: { of: 1 } }), 'replace', '/spec/replicas', { of: 1 }],
    ['a text where a number was', live(), deployment(pod, { replicas: '1' }), 'replace', '/spec/replicas', '1'],
    ['data without any', config({}), config({ data: { a: 'b' } }), 'add', '/data', { a: 'b' }],
    ['an added toleration where none is desired', tolerant, deployment(), 'replace', `${inPod}/tolerations`, []],
    ['an empty list', policy([rule], { egress: [{}] }), policy(), 'replace', '/spec/egress', []],
  ])('a member that differs is written: %s', (_name, current, desired, op, path, value) => {
    expect(differenceOperations(current, desired)).toEqual([{ op, path, value }]);
  });
});

test.each([
  ['1', 1, true],
  ['1000m', '1', true],
  ['0.5', '500m', true],
  ['1024Mi', '1Gi', true],
  ['1.5Gi', '1536Mi', true],
  ['1e3', '1k', true],
  ['1E3', '1000', true],
  ['1E', '1000P', true],
  ['-1', '-1000m', true],
  ['0.0000000001', '1n', true],
  ['100m', '1', false],
  ['1G', '1Gi', false],
  ['1', '-1', false],
  ['1K', '1000', false],
  ['', '0', false],
  ['one', 'two', false],
])('the quantities %s and %s are equal: %s', (a, b, equal) => {
  expect(sameQuantity(a, b)).toBe(equal);
});
