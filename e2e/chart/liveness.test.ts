import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { familyOf } from '#kit/testing/process-table';
import { listAll } from '#kube/client/list-all';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { root } from '../../hack/check/run-tool.ts';
import { bundleOf, quiet } from '../../runtime/testing/build-bundle.ts';
import { startReady } from '../isolation/isolated-runtime.ts';
import { startLoad } from '../support/load.ts';
import { type HttpProbe, probeAsKubelet } from '../support/probe-as-kubelet.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { podsOf } from './pods-of.ts';
import { missingHelm } from './tools/helm.ts';
import { renderFile } from './tools/render-chart.ts';

type Container = { readonly livenessProbe?: HttpProbe };
type Pod = { readonly containers: readonly Container[] };

/** The liveness probe of the workloads of the operator, as its rendered Deployment has it. */
function probeOfRuntime(): HttpProbe {
  const file = join(root, 'operator/workloads/adapters/deployments/testdata/full-deployment.yaml');
  const deployment = parse(readFileSync(file, 'utf8')) as {
    readonly spec: { readonly template: { readonly spec: Pod } };
  };
  return livenessOf(deployment.spec.template.spec);
}

function livenessOf({ containers }: Pod): HttpProbe {
  const probe = containers.map(({ livenessProbe }) => livenessProbe).find((found) => found !== undefined);
  if (probe === undefined) throw new Error('a pod without a liveness probe');
  return probe;
}

/** The liveness probes that the chart renders, by component. */
async function renderedProbes(): Promise<Readonly<Record<string, HttpProbe>>> {
  const pods = podsOf(await renderFile('default-values.yaml')).filter(({ isLasting }) => isLasting);
  return Object.fromEntries(
    pods.map(({ labels, spec }) => [labels['app.kubernetes.io/component'], livenessOf(spec as unknown as Pod)]),
  );
}

/** Each process of a platform, with the address that its probe requests. */
async function probedProcesses(platform: Platform) {
  const chart = await renderedProbes();
  const ports = JSON.parse(readFileSync(join(platform.data, 'ports.json'), 'utf8')) as Readonly<Record<string, number>>;
  const admin = (component: string, port: string) => {
    const probe = chart[component];
    if (probe === undefined || ports[port] === undefined) throw new Error(`${component} has no probe or no port`);
    return { name: component, probe, origin: `http://127.0.0.1:${ports[port]}` };
  };
  const workloads = await listAll<RuntimeWorkload>(platform.client, kinds.runtimeWorkload);
  return [
    admin('operator', 'operator'),
    admin('gateway', 'gateway-1 admin'),
    admin('management', 'management admin'),
    ...workloads.items
      .flatMap(({ status }) => status?.addresses ?? [])
      .map((origin) => ({ name: 'runtime', probe: probeOfRuntime(), origin })),
  ];
}

/** The kubelet's action for each process; each is probed at least as many times as it takes to kill it. */
async function verdicts(processes: Awaited<ReturnType<typeof probedProcesses>>): Promise<Record<string, string>> {
  const found = processes.map(async ({ name, probe, origin }) => {
    const enough = AbortSignal.timeout(
      (probe.failureThreshold + 0.5) * (probe.periodSeconds + probe.timeoutSeconds) * 1_000,
    );
    return [name, await probeAsKubelet(origin, probe, enough)];
  });
  return Object.fromEntries(await Promise.all(found));
}

const all = (verdict: string) => ({ operator: verdict, gateway: verdict, management: verdict, runtime: verdict });

test.skipIf(missingHelm !== undefined)(
  'the liveness probes of the chart keep processes under the highest load, and kill the same processes when they are frozen',
  async () => {
    await using platform = await startPlatform({ management: true });
    const { gateway, management = '' } = platform.status().addresses;
    const body = JSON.stringify({
      model: 'guarded-echo',
      messages: [{ role: 'user', content: 'A long text without a match. '.repeat(1_000) }],
    });
    const chat = startLoad({
      workers: 64,
      restMs: 0,
      async call() {
        const headers = { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' };
        const answer = await fetch(`${gateway}/v1/chat/completions`, { method: 'POST', headers, body });
        await answer.body?.cancel();
        return answer.status;
      },
    });
    const commands = startLoad({
      workers: 32,
      restMs: 0,
      async call() {
        const answer = await fetch(`${management}/api/v1/policies`);
        await answer.body?.cancel();
        return answer.status;
      },
    });
    const processes = await probedProcesses(platform);
    expect(await verdicts(processes)).toEqual(all('kept'));
    const statuses = new Set([...(await chat.stop()), ...(await commands.stop())]);
    expect(statuses).toContain(200);
    // The supervisor first: it would start frozen processes again.
    const frozen = [platform.pid, ...familyOf(platform.pid).map(({ pid }) => pid)];
    for (const pid of new Set(frozen)) process.kill(pid, 'SIGSTOP');
    try {
      expect(await verdicts(processes)).toEqual(all('killed'));
    } finally {
      for (const pid of new Set(frozen)) process.kill(pid, 'SIGCONT');
    }
  },
);

test('the liveness probe of a runtime kills a process whose event loop is blocked by an endless computation', async () => {
  await using runtime = await startReady(bundleOf([quiet]), ['loop-on-signal.ts']);
  const probed = [{ name: 'runtime', probe: probeOfRuntime(), origin: runtime.url }];
  process.kill(runtime.process.pid, 'SIGUSR2');
  expect(await verdicts(probed)).toEqual({ runtime: 'killed' });
  process.kill(runtime.process.pid, 'SIGKILL');
});
