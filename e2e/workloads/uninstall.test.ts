import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { root } from '../../hack/check/run-tool.ts';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { silentProgress } from '../../hack/cluster/progress.ts';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { missingApiServer } from '../kube/open-api-server.ts';
import { useApiServer } from '../kube/shared-api-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { openWorkloadNamespace } from './open-workload-namespace.ts';
import { startClusterOperator } from './start-cluster-operator.ts';

const server = useApiServer();

/** The command of the page that removes the finalizers, as printed there. */
function documentedCommand(namespace: string): string {
  const page = readFileSync(join(root, 'docs', 'install-on-kubernetes.md'), 'utf8');
  const [, command = ''] = /```sh\n([^`]*"finalizers":null[^`]*)```/.exec(page) ?? [];
  return command.replaceAll('-n portcullis', `-n ${namespace}`);
}

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
