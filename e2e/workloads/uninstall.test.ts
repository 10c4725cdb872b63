import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { kinds, operatorFinalizer } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { root } from '../../hack/check/run-tool.ts';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { silentProgress } from '../../hack/cluster/machine/progress.ts';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { fullObjects } from '../crds/full-objects.ts';
import { missingApiServer } from '../kube/open-api-server.ts';
import { useApiServer } from '../kube/shared-api-server.ts';
import { openWorkloadNamespace } from './open-workload-namespace.ts';
import { startClusterOperator } from './start-cluster-operator.ts';

const server = useApiServer();

const page = readFileSync(join(root, 'docs', 'install-on-kubernetes.md'), 'utf8');
/**
 * The kinds that users write: with its finalizer, the operator keeps each object of these kinds until it has removed
 * the objects that belong to it.
 */
const userKinds = Object.values(kinds).filter(({ internal }) => !internal);

/** The command that removes the finalizers, as it is printed on the page. */
function documentedCommand(namespace: string): string {
  const [, command = ''] = /```sh\n([^`]*"finalizers":null[^`]*)```/.exec(page) ?? [];
  return command.replaceAll('-n portcullis', `-n ${namespace}`);
}

test.each([
  ['deletes every resource', /kubectl -n portcullis delete (\S+) --all/],
  ['removes the finalizers', /kubectl -n portcullis get (\S+) -o name/],
])('the documented command that %s names every kind that users write', (_what, command) => {
  const [, named = ''] = command.exec(page) ?? [];
  expect(named.split(',').toSorted()).toEqual(userKinds.map(({ plural }) => plural).toSorted());
});

test.skipIf(missingApiServer !== undefined)(
  'deleting a namespace after its operator completes once the documented command removed the finalizers',
  async () => {
    using folder = temporaryFolder();
    const namespace = await openWorkloadNamespace(server);
    const { client, kubectl } = namespace;
    const operator = await startClusterOperator(server, namespace, folder.path);
    await client.create(kinds.guardrailPolicy, policyObject('guard'));
    await client.create(kinds.modelBinding, bindingObject('chat'));
    await until('the binding has a finalizer', async () => {
      const binding = await client.get<ModelBinding>(kinds.modelBinding, 'chat');
      return (binding?.metadata.finalizers ?? []).length > 0;
    });
    await operator[Symbol.asyncDispose]();
    for (const [name, object] of Object.entries(fullObjects)) {
      const { internal } = kinds[name as keyof typeof kinds];
      const metadata = { ...object.metadata, ...(internal ? {} : { finalizers: [operatorFinalizer] }) };
      await client.create<Resource>(kinds[name as keyof typeof kinds], { ...object, metadata });
    }
    await kubectl('delete', 'namespace', client.namespace, '--wait=false');
    await until('the deletion waits for the finalizers', async () => {
      const path = '--output=jsonpath={.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].status}';
      return (await kubectl('get', 'namespace', client.namespace, path)) === 'True';
    });
    const command = documentedCommand(client.namespace);
    expect(command).toContain('kubectl');
    const { kubeconfigFile } = server.controlPlane;
    const { kubectl: program } = await buildPrograms(['kubectl'], silentProgress);
    await promisify(execFile)('sh', ['-ec', command], {
      env: { PATH: `${join(program, '..')}:${process.env.PATH}`, KUBECONFIG: kubeconfigFile, HOME: folder.path },
    });
    await until('the namespace is deleted', async () => {
      return (await kubectl('get', 'namespaces', '--output=name')).includes(`/${client.namespace}\n`) === false;
    });
  },
);
