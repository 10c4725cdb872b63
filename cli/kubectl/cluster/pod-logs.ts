import { builtinKinds } from '#kube/client/builtin-kinds';
import type { KubeClient } from '#kube/client/client';
import type { ClusterAccess } from '#kube/client/cluster-access';
import { openConnection } from '#kube/client/connection';
import { resourcePath } from '#kube/client/resource-path';
import type { LogReader, LogSelection } from '../../logs/log-reader.ts';
import { componentOf, ourPods } from './observe-cluster.ts';

const workloadLabel = 'portcullis.dev/workload';
/** A server ends a log that is followed no later than this. */
const longestFollowMs = 86_400_000;

/** The logs of the pods of the installation, as the API server passes them on. */
export function createPodLogs(client: KubeClient, access: ClusterAccess, timeoutMs: number): LogReader {
  return {
    async list() {
      return (await ourPods(client)).map((pod) => {
        const workload = pod.metadata.labels?.[workloadLabel];
        const { name } = pod.metadata;
        return { name, component: componentOf(pod), ...(workload === undefined ? {} : { workload }) };
      });
    },
    read: (name, selection) =>
      readPod(access, resourcePath(builtinKinds.pod, client.namespace, name, 'log'), selection, timeoutMs),
  };
}

async function* readPod(
  access: ClusterAccess,
  path: string,
  { follow, tail, sinceSeconds, signal }: LogSelection,
  connectTimeoutMs: number,
): AsyncGenerator<string, void, void> {
  await using connection = openConnection(access);
  const query = {
    ...(follow ? { follow: 'true' } : {}),
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
    if (!signal.aborted) throw error;
  }
  if (rest !== '') yield rest;
}
