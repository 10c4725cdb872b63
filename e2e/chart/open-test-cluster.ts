import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { auditLogOf } from '../../hack/cluster/control-plane/api-server.ts';
import { dockerRuns } from '../../hack/cluster/kind/docker.ts';
import { clusterFolder, kubeconfigOfCluster } from '../../hack/cluster/machine/places.ts';
import { type ProgressReporter, progressOn } from '../../hack/cluster/machine/progress.ts';
import { missingForNode } from '../../hack/cluster/whole/missing-for-node.ts';
import { newNamespace, openForeign } from './foreign/open-foreign.ts';
import { createNamespace } from './foreign/own-namespace.ts';
import { startOwnCluster } from './own-cluster.ts';
import type { Timetable } from './timetable.ts';
import { imageValues } from './tools/chart-values.ts';
import type { TestCluster } from './tools/test-cluster.ts';

/** Name of the cluster that is started when no context is named. */
const clusterName = 'e2e';

/** The configured kubectl context; undefined when not set. */
export function namedContext(): string | undefined {
  const context = process.env['PORTCULLIS_E2E_CONTEXT'] ?? '';
  return context === '' ? undefined : context;
}

/** The reason why no cluster is available; undefined if a cluster is configured or can be started. */
export async function missingCluster(): Promise<string | undefined> {
  if (namedContext() !== undefined || (await dockerRuns())) return undefined;
  return missingForNode(progressOn(process.stdout));
}

/**
 * The cluster that `PORTCULLIS_E2E_CONTEXT` names, with the images of `PORTCULLIS_E2E_IMAGE` and, for the upgrade,
 * `PORTCULLIS_E2E_NEXT_IMAGE`, each with a database image in a repository with the suffix `-postgres`. Otherwise a local
 * cluster with the images of this checkout, stopped afterwards unless `PORTCULLIS_E2E_KEEP` is set.
 */
export async function openTestCluster(timetable: Timetable): Promise<TestCluster> {
  const progress = progressOn(process.stdout);
  await buildPrograms(['kubectl', 'helm'], progress);
  const context = namedContext();
  return context === undefined
    ? openOwn(progress, timetable)
    : openForeign({ context, environment: process.env, progress });
}

async function openOwn(progress: ProgressReporter, timetable: Timetable): Promise<TestCluster> {
  const hasDocker = await dockerRuns();
  const audit = hasDocker ? {} : { audit: 'Metadata' as const };
  await using parts = new AsyncDisposableStack();
  const started = await startOwnCluster(clusterName, ['e2e', 'e2e-next'], audit, timetable, progress);
  const [image, next] = parts.use(started).images;
  if (image === undefined || next === undefined) throw new TypeError('each tag has an image');
  const namespace = newNamespace();
  await createNamespace(kubeconfigOfCluster(clusterName), namespace);
  const owned = parts.move();
  return {
    kubeconfigFile: kubeconfigOfCluster(clusterName),
    namespace,
    images: [image, next],
    values: [imageValues(image), imageValues(next)],
    auditLogFile: hasDocker ? undefined : auditLogOf(clusterFolder(clusterName)),
    isOurs: true,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
