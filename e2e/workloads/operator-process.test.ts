import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Lease } from '#kube/client/builtin-types';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { policyObject } from '../../operator/testing/objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { useWorkloadWorld } from './open-workload-namespace.ts';
import { layOut } from './start-cluster-operator.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('processes of the operator in a cluster'), () => {
  const world = useWorkloadWorld();

  async function start(replica: string): Promise<RunningProcess> {
    const { environmentDirectory, runtimeTokenFile, secretsDirectory } = await layOut(world.folder);
    return startProcess({
      file: 'operator/main.ts',
      environment: {
        PORTCULLIS_MODE: 'cluster',
        PORTCULLIS_KUBECONFIG: world.server.controlPlane.kubeconfigFile,
        PORTCULLIS_NAMESPACE: world.namespace.client.namespace,
        PORTCULLIS_ENVIRONMENT_DIR: environmentDirectory,
        PORTCULLIS_RUNTIME_TOKEN_FILE: runtimeTokenFile,
        PORTCULLIS_SECRETS_DIR: secretsDirectory,
        PORTCULLIS_REPLICA: replica,
      },
    });
  }

  const lease = () => world.namespace.client.get<Lease>(builtinKinds.lease, 'portcullis-operator');
  const leads = (replica: string) =>
    until(`${replica} leads`, async () => (await lease())?.spec.holderIdentity?.startsWith(`${replica}_`) === true, {
      deadlineMs: 60_000,
    });
  const recorded = async (name: string): Promise<boolean> => {
    const policy = await world.namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    return policy?.status?.latestRevision !== undefined;
  };

  test('an operator releases its lease on SIGTERM and exits with 0', async () => {
    await using operator = await start('operator-0');
    await leads('operator-0');
    const metrics = await (await fetch(new URL('/metrics', operator.url))).text();
    expect(metrics).toContain('leader_election_master_status{name="portcullis-operator"');
    expect(await operator.end('SIGTERM')).toBe(0);
    expect((await lease())?.spec.holderIdentity).toBe('');
  });

  test('an operator whose lease is taken logs the loss and exits with 1', async () => {
    await using operator = await start('operator-0');
    await leads('operator-0');
    await world.namespace.client.patch(builtinKinds.lease, 'portcullis-operator', [
      { op: 'replace', path: '/spec/holderIdentity', value: 'somebody-else' },
      { op: 'replace', path: '/spec/leaseDurationSeconds', value: 3_600 },
    ]);
    expect(await operator.exit()).toBe(1);
    expect(operator.log()).toContain('leadership was lost: another process took the lease');
  });

  test('an operator that was frozen during a failover writes nothing after it resumes, and exits', async () => {
    await using first = await start('operator-0');
    await leads('operator-0');
    await using second = await start('operator-1');
    await world.namespace.client.create(kinds.guardrailPolicy, policyObject('before'));
    await until('the first operator acts', () => recorded('before'));
    first.signal('SIGSTOP');
    await leads('operator-1');
    await world.namespace.client.create(kinds.guardrailPolicy, policyObject('meanwhile'));
    await until('the second operator acts', () => recorded('meanwhile'));
    const before = await world.namespace.atRest();
    first.signal('SIGCONT');
    expect(await first.exit()).toBe(1);
    expect(first.log()).toContain('leadership was lost');
    expect(await world.namespace.atRest()).toEqual(before);
    expect((await fetch(new URL('/livez', second.url))).status).toBe(200);
  });
});
