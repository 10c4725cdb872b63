import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bringUp } from '../../hack/cluster/bring-up.ts';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { auditLogOf } from '../../hack/cluster/control-plane/api-server.ts';
import { buildImages } from '../../hack/cluster/image.ts';
import { dockerRuns } from '../../hack/cluster/kind/docker.ts';
import { loadImage } from '../../hack/cluster/load-image.ts';
import { clusterFolder, kubeconfigOfCluster } from '../../hack/cluster/places.ts';
import { runProgram } from '../../hack/cluster/process/run-program.ts';
import { type Progress, progressOn } from '../../hack/cluster/progress.ts';
import { readRecord } from '../../hack/cluster/record.ts';
import { takeDown } from '../../hack/cluster/take-down.ts';
import { missingForNode } from '../../hack/cluster/whole/missing-for-node.ts';
import type { Timetable } from './timetable.ts';

/** Name of the cluster that is started where no context is named. */
const clusterName = 'e2e';

export type TestImage = { readonly repository: string; readonly tag: string };

/** A cluster to install on, and two releases of the images that its nodes have or can pull. */
export type TestCluster = AsyncDisposable & {
  readonly kubeconfigFile: string;
  /** What is installed, and what an upgrade brings; of the same content where we built them. */
  readonly images: readonly [TestImage, TestImage];
  /** Those of the database, in the same order. */
  readonly postgresImages: readonly [TestImage, TestImage];
  /** One JSON object for each request to the API server; undefined where the cluster keeps none for us. */
  readonly auditLogFile: string | undefined;
  /** Whether we started it, and end it. */
  readonly isOurs: boolean;
};

const contextName = (): string => process.env['PORTCULLIS_E2E_CONTEXT'] ?? '';

/** Why there is no cluster to install on; undefined where one is named or can be started. */
export async function missingCluster(): Promise<string | undefined> {
  if (contextName() !== '' || (await dockerRuns())) return undefined;
  return missingForNode(progressOn(process.stdout));
}

/**
 * The cluster that `PORTCULLIS_E2E_CONTEXT` names, with the images of `PORTCULLIS_E2E_IMAGE` and, for the upgrade,
 * `PORTCULLIS_E2E_NEXT_IMAGE`, and beside each the one of the database, whose repository ends with `-postgres`; else one
 * of our own, in Docker where that runs, which holds the images of this checkout and is ended afterwards unless `PORTCULLIS_E2E_KEEP` is set.
 */
export async function openTestCluster(timetable: Timetable): Promise<TestCluster> {
  const progress = progressOn(process.stdout);
  await buildPrograms(['kubectl', 'helm'], progress);
  return contextName() === '' ? openOwn(progress, timetable) : openForeign(contextName(), progress);
}

async function openOwn(progress: Progress, { timed }: Timetable): Promise<TestCluster> {
  const hasDocker = await dockerRuns();
  const audit = hasDocker ? {} : { audit: 'Metadata' as const };
  await timed('cluster', 'npm run cluster up', () => bringUp({ name: clusterName, node: 'any', ...audit }, progress));
  await using parts = new AsyncDisposableStack();
  parts.defer(async () => {
    if ((process.env['PORTCULLIS_E2E_KEEP'] ?? '') === '') await takeDown(clusterName, progress);
  });
  const images = await timed('images of two tags, built and loaded', 'npm run cluster load', () =>
    loadImages(progress),
  );
  const owned = parts.move();
  return {
    kubeconfigFile: kubeconfigOfCluster(clusterName),
    images,
    postgresImages: pairOf(images.map(postgresOf)),
    auditLogFile: hasDocker ? undefined : auditLogOf(clusterFolder(clusterName)),
    isOurs: true,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Builds the images of this checkout under two tags, and loads all. */
async function loadImages(progress: Progress): Promise<readonly [TestImage, TestImage]> {
  const record = readRecord(clusterName);
  if (record === undefined) throw new Error('a cluster that was brought up has a record');
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-e2e-image-'));
  const tags = ['e2e', 'e2e-next'];
  try {
    for (const tag of tags) {
      const { archiveFile } = await progress.step(`building the images ${tag}`, async () =>
        buildImages(join(folder, `${tag}.tar`), tag),
      );
      await progress.step(`loading the images ${tag}`, () => loadImage(record, archiveFile));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return pairOf(tags.map((tag) => ({ repository: 'localhost/portcullis', tag })));
}

/** The image of the database beside an image of the platform. */
function postgresOf({ repository, tag }: TestImage): TestImage {
  return { repository: `${repository}-postgres`, tag };
}

async function openForeign(context: string, progress: Progress): Promise<TestCluster> {
  const { kubectl } = await buildPrograms(['kubectl'], progress);
  const image = imageOf('PORTCULLIS_E2E_IMAGE');
  const next = process.env['PORTCULLIS_E2E_NEXT_IMAGE'] === undefined ? image : imageOf('PORTCULLIS_E2E_NEXT_IMAGE');
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-e2e-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  const view = ['config', 'view', '--minify', '--flatten', '--raw', `--context=${context}`];
  writeFileSync(kubeconfigFile, await runProgram(kubectl, view), { mode: 0o600 });
  return {
    kubeconfigFile,
    images: [image, next],
    postgresImages: [postgresOf(image), postgresOf(next)],
    auditLogFile: undefined,
    isOurs: false,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
}

function imageOf(variable: string): TestImage {
  const text = process.env[variable] ?? '';
  const [, repository, tag] = /^(.+):([^:/]+)$/.exec(text) ?? [];
  if (repository === undefined || tag === undefined) {
    throw new Error(`${variable} must name the image of this checkout as repository:tag, where the nodes pull it from`);
  }
  return { repository, tag };
}

function pairOf<T>([first, second]: readonly T[]): readonly [T, T] {
  if (first === undefined || second === undefined) throw new TypeError('two are there');
  return [first, second];
}
