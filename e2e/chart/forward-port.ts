import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { silentProgress } from '../../hack/cluster/machine/progress.ts';

/** A local port forwarded to a port of a pod or Service, until disposed. */
export async function forwardPort(
  kubeconfigFile: string,
  namespace: string,
  target: string,
  port: number,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { kubectl } = await buildPrograms(['kubectl'], silentProgress);
  const args = [`--kubeconfig=${kubeconfigFile}`, `--namespace=${namespace}`, 'port-forward', target, `:${port}`];
  const child = spawn(kubectl, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const [line = ''] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [string?];
  const [, local] = /:(\d+) ->/.exec(line) ?? [];
  if (local === undefined) throw new Error(`no port leads to ${target}`);
  return {
    url: `http://127.0.0.1:${local}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
