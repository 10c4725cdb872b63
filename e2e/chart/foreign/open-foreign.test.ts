import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { kubectlOk } from '../../../hack/cluster/control-plane/kubectl.ts';
import { type ControlPlane, startControlPlane } from '../../../hack/cluster/life/start-control-plane.ts';
import { silentProgress } from '../../../hack/cluster/machine/progress.ts';
import { policyObject } from '../../../operator/testing/objects.ts';
import { missingApiServer } from '../../kube/open-api-server.ts';
import { missingHelm, skipWithout } from '../tools/helm.ts';
import { type Rendered, renderChart } from '../tools/render-chart.ts';
import { expectedRelease } from './decide-use.ts';
import { listAllObjects, objectOfLine } from './list-objects.ts';
import { type ForeignOptions, openForeign } from './open-foreign.ts';
import { otherPeople, storageClass, theirPolicy } from './testdata/other-people.ts';

const missing = missingHelm ?? missingApiServer;
const image = 'images.example.com:5000/safety/portcullis:1.2.3';
const ended = 'portcullis-e2e-0a1b2c';

/** Metadata that Helm writes for a release. */
function ownedBy(place: string, { metadata, ...rest }: Rendered): object {
  const annotations = { 'meta.helm.sh/release-name': expectedRelease, 'meta.helm.sh/release-namespace': place };
  const labels = { ...metadata.labels, 'app.kubernetes.io/managed-by': 'Helm' };
  return { ...rest, metadata: { ...metadata, labels, annotations } };
}

describe('a foreign cluster', () => {
  skipWithout(missing);
  const folder = temporaryFolder();
  let server: ControlPlane;
  const admin = (...args: readonly string[]): Promise<string> => kubectlOk(server.kubeconfigFile, args);
  const apply = (...objects: readonly object[]) =>
    kubectlOk(
      server.kubeconfigFile,
      ['apply', '--server-side', '--field-manager=helm', '--force-conflicts', '--filename=-'],
      objects.map((one) => stringify(one)).join('---\n'),
    );
  const objects = () => listAllObjects(server.kubeconfigFile);
  const open = (more: Partial<ForeignOptions> = {}, variables: NodeJS.ProcessEnv = {}) => {
    const own = { KUBECONFIG: server.kubeconfigFile, PORTCULLIS_E2E_IMAGE: image };
    return openForeign({
      context: server.name,
      environment: { ...process.env, ...own, ...variables },
      progress: silentProgress,
      ...more,
    });
  };
  const complaintOf = async (...args: Parameters<typeof open>): Promise<string> => {
    try {
      const opened = await open(...args);
      await opened[Symbol.asyncDispose]();
      return 'none: it was opened';
    } catch (error) {
      return (error as Error).message;
    }
  };
  /** Expects this refusal and that no object has changed. */
  async function expectRefused(sentence: RegExp, ...args: Parameters<typeof open>): Promise<void> {
    const before = await objects();
    expect(await complaintOf(...args)).toMatch(sentence);
    expect(await objects()).toEqual(before);
  }
  const definitions = async (place: string): Promise<readonly object[]> =>
    (await renderChart(['--show-only=templates/definitions/crds.yaml'])).map((one) => ownedBy(place, one));
  /** Writes a kubeconfig with one context `theirs` in a namespace of another owner. @returns its path */
  function kubeconfigOf(name: string, cluster: object, user: object): string {
    const file = join(folder.path, name);
    const context = { cluster: 'theirs', user: 'me', namespace: 'shop' };
    const text = stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'theirs', cluster }],
      users: [{ name: 'me', user }],
      contexts: [{ name: 'theirs', context }],
    });
    writeFileSync(file, text);
    return file;
  }

  beforeAll(async () => {
    if (missing !== undefined) return;
    server = await startControlPlane({ controllers: true });
    await apply(...otherPeople());
    // Controllers must have created dependent objects before the comparison.
    await admin('wait', '--for=create', '--timeout=60s', 'configmap/kube-root-ca.crt', '--namespace=shop');
    await admin('wait', '--for=create', '--timeout=60s', 'pod', '--selector=app=till', '--namespace=shop');
    await admin('wait', '--for=condition=Established', '--timeout=60s', 'customresourcedefinitions', '--all');
    await apply(theirPolicy());
  });
  afterAll(async () => {
    folder[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test('a context that is missing or has no server address is refused without a fallback', async () => {
    const unknown = /^The kubeconfig has no context gone: let PORTCULLIS_E2E_CONTEXT be one of/;
    await expectRefused(unknown, { context: 'gone' });
    const noAddress = /^The context theirs names no cluster with an address: mend the kubeconfig\.$/;
    await expectRefused(noAddress, { context: 'theirs' }, { KUBECONFIG: kubeconfigOf('empty', {}, {}) });
  });

  test('an unreachable cluster is refused without waiting', async () => {
    const KUBECONFIG = kubeconfigOf('away', { server: 'https://127.0.0.1:1' }, { token: 'none' });
    const sentence = /^The cluster of the context theirs cannot be read: .*127\.0\.0\.1:1/s;
    expect(await complaintOf({ context: 'theirs' }, { KUBECONFIG })).toMatch(sentence);
  });

  test('a cluster without an image of this checkout is refused', async () => {
    const before = await objects();
    for (const text of ['', 'portcullis', 'portcullis@sha256:0123', 'images.example.com:5000/portcullis']) {
      const complaint = await complaintOf({}, { PORTCULLIS_E2E_IMAGE: text });
      expect(complaint, text).toMatch(/^PORTCULLIS_E2E_IMAGE must name the image of this checkout as repository:tag/);
    }
    const complaint = await complaintOf({}, { PORTCULLIS_E2E_NEXT_IMAGE: 'portcullis' });
    expect(complaint).toMatch(/^PORTCULLIS_E2E_NEXT_IMAGE must name/);
    expect(await objects()).toEqual(before);
  });

  test('a cluster that does not meet the requirements of the chart is refused', async () => {
    await expectRefused(/^The chart cannot be installed on the cluster of the context .*no default StorageClass/s);
    await apply(storageClass());
  });

  test('a cluster that already has the namespace is refused', async () => {
    await expectRefused(/is left as it is: it has a namespace shop,/, { namespace: 'shop' });
  });

  test('a cluster with a complete or partial installation is refused', async () => {
    const policies = await renderChart(['--show-only=templates/definitions/admission.yaml']);
    const policy = policies.find(
      ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name === 'ids.portcullis.dev',
    );
    await apply(policy ?? {});
    await expectRefused(
      /policy\.admissionregistration\.k8s\.io\/ids\.portcullis\.dev is there and belongs to no release/,
    );
    await admin('delete', 'validatingadmissionpolicy', 'ids.portcullis.dev');
    await apply(...(await definitions('safety')));
    const others = readdirSync('charts/portcullis/files/crds').length - 1;
    const sentence = `\\(and ${others} more\\) is there and belongs to the release portcullis of the namespace safety\\. An inst`;
    await expectRefused(new RegExp(sentence));
  });

  test('a cluster whose leftover definitions are in use is refused', async () => {
    await apply(...(await definitions(ended)));
    await apply({ ...policyObject('cards'), metadata: { name: 'cards', namespace: 'shop' } });
    await expectRefused(/somebody uses them: GuardrailPolicy shop\/cards is there/);
    await admin('delete', 'guardrailpolicies.portcullis.dev', 'cards', '--namespace=shop');
  });

  test('an empty cluster is used with the credentials of its kubeconfig, and only the namespace of the run is removed', async () => {
    const credential = join(folder.path, 'credential.json');
    const clientCertificateData = readFileSync(server.adminCertificateFile, 'utf8');
    const status = { clientCertificateData, clientKeyData: readFileSync(server.adminKeyFile, 'utf8') };
    const apiVersion = 'client.authentication.k8s.io/v1';
    writeFileSync(credential, JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));
    const script = `test "$HOME" = '${homedir()}' && cat '${credential}'`;
    const exec = { apiVersion, interactiveMode: 'Never', command: 'sh', args: ['-c', script] };
    const access = { server: server.url, 'certificate-authority': server.caFile };
    const before = await objects();

    const cluster = await open({ context: 'theirs' }, { KUBECONFIG: kubeconfigOf('by-program', access, { exec }) });
    const ownerOf = '--output=jsonpath={.items[*].metadata.annotations.meta\\.helm\\.sh/release-namespace}';
    const part = '--selector=app.kubernetes.io/part-of=portcullis';
    const owners = (await admin('get', 'customresourcedefinitions', part, ownerOf)).split(' ');
    const definitions = readdirSync('charts/portcullis/files/crds');
    expect(owners).toEqual(definitions.map(() => cluster.namespace));
    const writers = '--output=jsonpath={.items[*].metadata.managedFields[*].manager}';
    const shown = await admin('get', 'customresourcedefinitions', part, '--show-managed-fields', writers);
    // A second field manager would conflict with later installations by Helm.
    expect(new Set(shown.split(' '))).toEqual(new Set(['helm', 'kube-apiserver']));
    const finalizers = ['portcullis.dev/held'];
    for (const namespace of [cluster.namespace, 'shop'])
      await apply({ ...policyObject('held'), metadata: { name: 'held', namespace, finalizers } });
    // No operator runs to remove the finalizer.
    await cluster[Symbol.asyncDispose]();

    expect(await admin('get', 'namespace', cluster.namespace, '--ignore-not-found')).toBe('');
    const inShop = ['guardrailpolicies.portcullis.dev', 'held', '--namespace=shop'];
    const kept = '--output=jsonpath={.metadata.finalizers[0]} {.metadata.deletionTimestamp}';
    expect(await admin('get', ...inShop, kept)).toBe('portcullis.dev/held ');
    await admin('patch', ...inShop, '--type=merge', '--patch={"metadata":{"finalizers":null}}');
    await admin('delete', ...inShop);
    const ofOthers = (lines: readonly string[]) =>
      lines.filter((line) => !objectOfLine(line).endsWith('.portcullis.dev'));
    const after = await objects();
    expect(ofOthers(after)).toEqual(ofOthers(before));
    expect(after.map(objectOfLine)).toEqual(before.map(objectOfLine));
  });
});
