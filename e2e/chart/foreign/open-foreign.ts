import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { buildPrograms } from '../../../hack/cluster/build/build-programs.ts';
import { kubectlOk } from '../../../hack/cluster/control-plane/kubectl.ts';
import { ClusterError } from '../../../hack/cluster/machine/cluster-error.ts';
import { type ProgressReporter, silentProgress } from '../../../hack/cluster/machine/progress.ts';
import { runClusterProgram } from '../../../hack/cluster/process/run-program.ts';
import { imageValues, type TestImage } from '../tools/chart-values.ts';
import { chartFolder, helm, helmOk } from '../tools/helm.ts';
import type { Rendered } from '../tools/render-chart.ts';
import type { TestCluster } from '../tools/test-cluster.ts';
import { decideUse, expectedRelease, type Present, removalOf } from './decide-use.ts';
import { lookAtCluster, objectId } from './look-at-cluster.ts';
import { createNamespace, removeNamespace } from './own-namespace.ts';

export type ForeignOptions = {
  /** Context in the kubeconfig of the environment. */
  readonly context: string;
  /** Contains `PORTCULLIS_E2E_IMAGE` and the variables that kubectl reads. */
  readonly environment: NodeJS.ProcessEnv;
  /** Namespace to create; absent: a new unique name. */
  readonly namespace?: string;
  readonly progress: ProgressReporter;
};

/**
 * Roles of the chart aggregate to edit and view for all users, so they are not installed on a cluster of another owner.
 */
const foreignValues = ['--set=userRoles.install=false'];

/** A unique name. */
export function newNamespace(): string {
  return `${expectedRelease}-e2e-${randomBytes(3).toString('hex')}`;
}

/**
 * Creates a namespace on a cluster of another owner after checking that an installation would take over no object of
 * another owner. Disposing removes the namespace; cluster-scoped objects of the chart stay.
 * @throws ClusterError when the context, the images or the cluster do not allow it; objects of other owners are
 * unchanged
 */
export async function openForeign(options: ForeignOptions): Promise<TestCluster> {
  const { context, environment, namespace = newNamespace(), progress } = options;
  const images = imagesOf(environment);
  await using parts = new AsyncDisposableStack();
  const kubeconfigFile = join(parts.use(temporaryFolder()).path, 'kubeconfig');
  writeFileSync(kubeconfigFile, await accessTo(context, environment), { mode: 0o600 });
  const values = images.map((image) => [...imageValues(image), ...foreignValues]);
  const [first = [], second = []] = values;
  const rendered = await helmOk(['template', expectedRelease, chartFolder, `--namespace=${namespace}`, ...first]);
  const leftovers = await leftoversFor(kubeconfigFile, { context, namespace }, rendered);
  await takeOver(kubeconfigFile, leftovers, rendered, namespace);
  await rehearse(context, kubeconfigFile, namespace, first);
  await createNamespace(kubeconfigFile, namespace);
  parts.defer(() => removeNamespace(kubeconfigFile, namespace, progress));
  progress.say(`On the cluster of ${context} everything is written to ${namespace}. Broken off, it is removed by:`);
  progress.say(`  ${removalOf(context, namespace)}`);
  const owned = parts.move();
  return {
    kubeconfigFile,
    namespace,
    images,
    values: [first, second],
    auditLogFile: undefined,
    isOurs: false,
    [Symbol.asyncDispose]: async () => {
      await owned.disposeAsync();
      progress.say(
        `The custom resource definitions of the chart stay on the cluster of ${context}: CONTRIBUTING.md lists them.`,
      );
    },
  };
}

/** A kubeconfig with one context. @returns its text */
async function accessTo(context: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { kubectl } = await buildPrograms(['kubectl'], silentProgress);
  const config = (...args: readonly string[]) => runClusterProgram(kubectl, ['config', ...args], environment);
  const contexts = (await config('get-contexts', '--output=name')).trim().split('\n');
  if (!contexts.includes(context)) {
    throw new ClusterError(
      'not-found',
      `The kubeconfig has no context ${context}: let PORTCULLIS_E2E_CONTEXT be one of those that kubectl config get-contexts shows.`,
    );
  }
  const text = await config('view', '--minify', '--flatten', '--raw', `--context=${context}`);
  const { clusters } = parse(text) as {
    readonly clusters?: readonly { readonly cluster?: { readonly server?: string } }[];
  };
  // The address is set explicitly: without it kubectl and Helm fall back to the in-cluster or local API server.
  if ((clusters?.[0]?.cluster?.server ?? '') === '') {
    throw new ClusterError(
      'not-found',
      `The context ${context} names no cluster with an address: mend the kubeconfig.`,
    );
  }
  return text;
}

async function leftoversFor(
  kubeconfigFile: string,
  at: { readonly context: string; readonly namespace: string },
  rendered: string,
): Promise<readonly Present[]> {
  const { context } = at;
  const look = await lookAtCluster(kubeconfigFile, at, rendered).catch((cause: Error) => {
    throw new ClusterError('not-found', `The cluster of the context ${context} cannot be read: ${cause.message}`, {
      cause,
    });
  });
  const use = decideUse(look);
  switch (use.kind) {
    case 'refused':
      throw new ClusterError('busy', `The cluster of the context ${context} is left as it is: ${use.reason}`);
    case 'allowed':
      return use.leftovers;
  }
}

/** Server-side dry run of the same installation, which checks the chart's requirements of the cluster. */
async function rehearse(
  context: string,
  kubeconfigFile: string,
  namespace: string,
  values: readonly string[],
): Promise<void> {
  const args = ['install', expectedRelease, chartFolder, `--namespace=${namespace}`, '--dry-run=server', ...values];
  const { code, stderr } = await helm(args, kubeconfigFile);
  if (code === 0) return;
  throw new ClusterError(
    'component-failed',
    `The chart cannot be installed on the cluster of the context ${context}: ${stderr.trim()}`,
  );
}

function imagesOf(environment: NodeJS.ProcessEnv): readonly [TestImage, TestImage] {
  const image = imageOf(environment, 'PORTCULLIS_E2E_IMAGE');
  const hasNext = (environment['PORTCULLIS_E2E_NEXT_IMAGE'] ?? '') !== '';
  return [image, hasNext ? imageOf(environment, 'PORTCULLIS_E2E_NEXT_IMAGE') : image];
}

function imageOf(environment: NodeJS.ProcessEnv, variable: string): TestImage {
  const [, repository, tag] = /^([^@]+):([^:/@]+)$/.exec(environment[variable] ?? '') ?? [];
  if (repository === undefined || tag === undefined) {
    throw new ClusterError(
      'usage',
      `${variable} must name the image of this checkout as repository:tag, where the nodes of the cluster pull it from.`,
    );
  }
  return { repository, tag };
}

/**
 * Assigns leftover definitions of an earlier run to a release in this namespace. The objects are written with the field
 * manager of Helm, because Helm only upgrades objects of its own release, and another field manager would conflict with
 * later installations.
 * @param rendered objects of the chart
 * @throws Error when a definition was changed after it was read
 */
async function takeOver(
  kubeconfigFile: string,
  leftovers: readonly Present[],
  rendered: string,
  namespace: string,
): Promise<void> {
  const versions = new Map(leftovers.map(({ id, resourceVersion }) => [id, resourceVersion]));
  const objects = parseAllDocuments(rendered, { version: '1.1' }).flatMap((document) => {
    const object = document.toJS() as Rendered | null;
    const resourceVersion = object === null ? undefined : versions.get(objectId(object));
    return object === null || resourceVersion === undefined ? [] : [owned(object, resourceVersion, namespace)];
  });
  if (objects.length === 0) return;
  const list = stringify({ apiVersion: 'v1', kind: 'List', items: objects }, { aliasDuplicateObjects: false });
  await kubectlOk(kubeconfigFile, ['apply', '--server-side', '--field-manager=helm', '--filename=-'], list);
}

function owned({ metadata, ...rest }: Rendered, resourceVersion: string, namespace: string): object {
  const annotations = {
    ...metadata.annotations,
    'meta.helm.sh/release-name': expectedRelease,
    'meta.helm.sh/release-namespace': namespace,
  };
  return { ...rest, metadata: { ...metadata, resourceVersion, annotations } };
}
