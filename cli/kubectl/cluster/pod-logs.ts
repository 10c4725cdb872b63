import { sentence } from '#diagnosis/sentence';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import type { ClusterAccess } from '#kube/client/cluster-access';
import { openConnection } from '#kube/client/connection';
import { isKubeError } from '#kube/client/kube-error';
import { resourcePath } from '#kube/client/resource-path';
import type { Stored } from '#resources/metadata';
import { componentOf, ourPods } from '../../cluster/installation-objects.ts';
import { CliError } from '../../errors/cli-error.ts';
import type { LogReader, LogSelection } from '../../logs/log-reader.ts';

const workloadLabel = 'portcullis.dev/workload';
/** The server ends a followed log after at most this time. */
const longestFollowMs = 86_400_000;

/** The logs of the pods of the installation, as the API server passes them on. */
export function createPodLogs(client: KubeClient, access: ClusterAccess, timeoutMs: number): LogReader {
  return {
    async list() {
      return (await ourPods(client)).flatMap((pod) => {
        const workload = pod.metadata.labels?.[workloadLabel];
        const rest = { component: componentOf(pod), ...(workload === undefined ? {} : { workload }) };
        return logNamesOf(pod).map((name) => ({ name, ...rest }));
      });
    },
    read(name, selection) {
      const [pod = '', container] = name.split('/');
      const path = resourcePath(builtinKinds.pod, client.namespace, pod, 'log');
      return readPod(access, { name, path, container }, selection, timeoutMs);
    },
  };
}

/**
 * The names of the logs of a pod: the name of the pod, or `POD/CONTAINER` for each container if there are several,
 * because each has its own log.
 */
function logNamesOf({ metadata: { name }, spec }: Stored<Pod>): readonly string[] {
  const { containers } = spec;
  return containers.length < 2 ? [name] : containers.map((container) => `${name}/${container.name}`);
}

async function* readPod(
  access: ClusterAccess,
  { name, path, container }: { readonly name: string; readonly path: string; readonly container: string | undefined },
  { follow, previous, tail, sinceSeconds, signal }: LogSelection,
  connectTimeoutMs: number,
): AsyncGenerator<string, void, void> {
  await using connection = openConnection(access);
  const query = {
    ...(container === undefined ? {} : { container }),
    ...(follow ? { follow: 'true' } : {}),
    ...(previous === undefined ? {} : { previous: 'true' }),
    ...(tail === undefined ? {} : { tailLines: String(tail) }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds: String(sinceSeconds) }),
  };
  const timeoutMs = follow ? longestFollowMs : connectTimeoutMs * 6;
  const decoder = new TextDecoder();
  let rest = '';
  try {
    const accept = 'text/plain, application/json';
    for await (const bytes of connection.stream({
      method: 'GET',
      path,
      query,
      accept,
      timeoutMs,
      connectTimeoutMs,
      signal,
    })) {
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    if (!signal.aborted) throw absentLog(name, error) ?? error;
  }
  if (rest !== '') yield rest;
}

/**
 * The error for an absent log. The API server refuses the log of a container that has not started (400), of a container
 * without a previous run (400), of a deleted pod (404), and of a pod whose node does not answer (500). Undefined for
 * any other error.
 */
function absentLog(name: string, error: unknown): CliError | undefined {
  if (!isKubeError(error, 'invalid', 'not_found', 'unavailable')) return undefined;
  return new CliError('not_found', `${name} has no log: ${sentence(error.message)}`, { cause: error });
}
