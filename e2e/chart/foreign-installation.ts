import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '#kit/testing/until';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { kubeconfigOfCluster } from '../../hack/cluster/machine/places.ts';
import { progressOn } from '../../hack/cluster/machine/progress.ts';
import { expectedRelease } from './foreign/decide-use.ts';
import { listAllObjects, objectOfLine } from './foreign/list-objects.ts';
import { openForeign } from './foreign/open-foreign.ts';
import { otherPeople, theirPolicy } from './foreign/testdata/other-people.ts';
import { openGateway } from './open-gateway.ts';
import { missingCluster, namedContext } from './open-test-cluster.ts';
import { type OwnCluster, startOwnCluster } from './own-cluster.ts';
import { createTimetable } from './timetable.ts';
import { chartFolder, helmOk } from './tools/helm.ts';

const name = 'e2e-foreign';
const tag = 'e2e';
const minutes = (count: number): number => count * 60_000;
const missing =
  namedContext() === undefined ? await missingCluster() : 'PORTCULLIS_E2E_CONTEXT names a cluster: none is started';

const describeForeign = (): void => {
  const timetable = createTimetable();
  const { timed } = timetable;
  const progress = progressOn(process.stdout);
  const kubeconfigFile = kubeconfigOfCluster(name);
  const admin = (args: readonly string[], input?: string) => kubectlOk(kubeconfigFile, args, input);
  let own: OwnCluster;

  beforeAll(async () => {
    await buildPrograms(['kubectl', 'helm'], progress);
    own = await startOwnCluster(name, [tag], {}, timetable, progress);
    const apply = (...objects: readonly object[]) =>
      admin(['apply', '--filename=-'], objects.map((one) => stringify(one)).join('---\n'));
    await apply(...otherPeople());
    await admin(['wait', '--for=condition=Established', '--timeout=1m', 'customresourcedefinitions', '--all']);
    await apply(theirPolicy());
  }, minutes(45));
  afterAll(() => own?.[Symbol.asyncDispose](), minutes(3));

  test(
    'on a foreign cluster the chart serves a model, a second release is refused, and only its definitions remain after removal',
    async () => {
      const objects = () => listAllObjects(kubeconfigFile);
      const before = await until(
        'the cluster is idle',
        async () => {
          const [one, other] = [await objects(), await objects()];
          return one.join() === other.join() ? other : undefined;
        },
        { deadlineMs: minutes(1) },
      );
      const [image] = own.images;
      const context = (await admin(['config', 'current-context'])).trim();
      const PORTCULLIS_E2E_IMAGE = `${image?.repository}:${image?.tag}`;
      const environment = { ...process.env, KUBECONFIG: kubeconfigFile, PORTCULLIS_E2E_IMAGE };
      const open = () => openForeign({ context, environment, progress });
      const cluster = await timed('namespace', 'openForeign', open);
      try {
        const { namespace, values } = cluster;
        const args = [
          'install',
          expectedRelease,
          chartFolder,
          `--namespace=${namespace}`,
          ...values[0],
          '--wait',
          '--timeout=10m',
        ];
        await timed('install', 'helm install', () => helmOk(args, cluster.kubeconfigFile));
        const binding = 'modelbinding.portcullis.dev/guarded-echo';
        await admin(['wait', `--namespace=${namespace}`, '--for=condition=Ready', binding, '--timeout=8m']);
        await using gateway = await openGateway(cluster, expectedRelease);
        expect(await gateway.ask('My card is 4111 1111 1111 1111.')).toMatchObject({ text: 'My card is [card].' });
        expect((await objects()).map(objectOfLine)).toContain(`Deployment ${namespace}/${expectedRelease}-operator`);
        await expect(open()).rejects.toThrow(`is at work there in the namespace ${namespace}`);
      } finally {
        await timed('removal', 'kubectl delete namespace', async () => cluster[Symbol.asyncDispose]());
      }
      const after = await objects();
      expect(after.filter((line) => before.includes(line))).toEqual(before);
      expect(after.filter((line) => !before.includes(line)).map(objectOfLine)).toEqual([
        'APIService /v1alpha1.portcullis.dev',
        'CustomResourceDefinition /agentroutes.portcullis.dev',
        'CustomResourceDefinition /agents.portcullis.dev',
        'CustomResourceDefinition /agentversions.portcullis.dev',
        'CustomResourceDefinition /collections.portcullis.dev',
        'CustomResourceDefinition /gatewayreports.portcullis.dev',
        'CustomResourceDefinition /gatewayroutes.portcullis.dev',
        'CustomResourceDefinition /guardrailpolicies.portcullis.dev',
        'CustomResourceDefinition /modelbindings.portcullis.dev',
        'CustomResourceDefinition /policyrevisions.portcullis.dev',
        'CustomResourceDefinition /runtimeworkloads.portcullis.dev',
        'MutatingAdmissionPolicy /applied-by.portcullis.dev',
        'MutatingAdmissionPolicy /written-by.portcullis.dev',
        'MutatingAdmissionPolicyBinding /applied-by.portcullis.dev',
        'MutatingAdmissionPolicyBinding /written-by.portcullis.dev',
        'ValidatingAdmissionPolicy /agentroutes.portcullis.dev',
        'ValidatingAdmissionPolicy /gatewayroutes.portcullis.dev',
        'ValidatingAdmissionPolicy /guards.portcullis.dev',
        'ValidatingAdmissionPolicy /ids.portcullis.dev',
        'ValidatingAdmissionPolicy /pins.portcullis.dev',
        'ValidatingAdmissionPolicy /policies-of-agents.portcullis.dev',
        'ValidatingAdmissionPolicy /reports.portcullis.dev',
        'ValidatingAdmissionPolicy /restored-uids.portcullis.dev',
        'ValidatingAdmissionPolicy /runtimeworkloads.portcullis.dev',
        'ValidatingAdmissionPolicy /served-policies.portcullis.dev',
        'ValidatingAdmissionPolicy /unguarding-agents.portcullis.dev',
        'ValidatingAdmissionPolicy /unguarding-versions.portcullis.dev',
        'ValidatingAdmissionPolicy /unguarding.portcullis.dev',
        'ValidatingAdmissionPolicy /used-policies.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /agentroutes.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /gatewayroutes.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /guards.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /ids.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /pins.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /policies-of-agents.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /reports.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /restored-uids.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /runtimeworkloads.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /served-policies.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /unguarding-agents.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /unguarding-versions.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /unguarding.portcullis.dev',
        'ValidatingAdmissionPolicyBinding /used-policies.portcullis.dev',
      ]);
    },
    minutes(20),
  );
};

if (missing === undefined) describe('the chart', describeForeign);
else test('The chart on a foreign cluster', ({ skip }) => skip(missing));
