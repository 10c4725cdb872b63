import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { auditLogOf } from '../../hack/cluster/control-plane/api-server.ts';
import { dockerRuns } from '../../hack/cluster/kind/docker.ts';
import { clusterFolder, kubeconfigOfCluster } from '../../hack/cluster/places.ts';
import { type Progress, progressOn } from '../../hack/cluster/progress.ts';
import { missingForNode } from '../../hack/cluster/whole/missing-for-node.ts';
import { imageValues, type TestImage } from './chart-values.ts';
import { newNamespace, openForeign } from './foreign/open-foreign.ts';
import { createNamespace } from './foreign/own-namespace.ts';
import { startOwnCluster } from './own-cluster.ts';
import type { Timetable } from './timetable.ts';

/** Name of the cluster that is started where no context is named. */
const clusterName = 'e2e';

/** A cluster to install on, and two releases of the images that its nodes have or can pull. */
export type TestCluster = AsyncDisposable & {
  readonly kubeconfigFile: string;
  /** Made for this run, of restricted pods: nothing is written to any other one. */
  readonly namespace: string;
  /** What is installed, and what an upgrade brings; of the same content where we built them. */
  readonly images: readonly [TestImage, TestImage];
  /** Arguments of Helm that say so, in the same order, with what the cluster needs besides. */
  readonly values: readonly [readonly string[], readonly string[]];
  /** One JSON object for each request to the API server; undefined where the cluster keeps none for us. */
  readonly auditLogFile: string | undefined;
  /** Whether we started it, and end it. */
  readonly isOurs: boolean;
};

/** The kubectl context that is named; undefined where there is none. */
export function namedContext(): string | undefined {
  const context = process.env['PORTCULLIS_E2E_CONTEXT'] ?? '';
  return context === '' ? undefined : context;
}

/** Why there is no cluster to install on; undefined where one is named or can be started. */
export async function missingCluster(): Promise<string | undefined> {
  if (namedContext() !== undefined || (await dockerRuns())) return undefined;
  return missingForNode(progressOn(process.stdout));
}

/**
 * The cluster that `PORTCULLIS_E2E_CONTEXT` names, with the images of `PORTCULLIS_E2E_IMAGE` and, for the upgrade,
 * `PORTCULLIS_E2E_NEXT_IMAGE`, and beside each the one of the database, whose repository ends with `-postgres`; else one
 * of our own, which holds the images of this checkout and is ended afterwards unless `PORTCULLIS_E2E_KEEP` is set.
 */
export async function openTestCluster(timetable: Timetable): Promise<TestCluster> {
  const progress = progressOn(process.stdout);
  await buildPrograms(['kubectl', 'helm'], progress);
  const context = namedContext();
  return context === undefined
    ? openOwn(progress, timetable)
    : openForeign({ context, environment: process.env, progress });
}

async function openOwn(progress: Progress, timetable: Timetable): Promise<TestCluster> {
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
