import { stringify } from 'yaml';
import { DeadlineError, until } from '#kit/testing/until';
import { confirmDeletionAnnotation } from '#resources/kinds';
import { kubectl, kubectlOk } from '../../../hack/cluster/control-plane/kubectl.ts';
import type { ProgressReporter } from '../../../hack/cluster/machine/progress.ts';
import { portcullisGroup } from './decide-use.ts';

const goneMs = 180_000;
const releaseMs = 90_000;
/** Kinds with finalizers that the operator removes. */
const heldKinds = ['modelbindings', 'guardrailpolicies'].map((plural) => `${plural}.${portcullisGroup}`).join(',');

/** Creates a namespace with restricted pods. @throws Error when the namespace exists */
export async function createNamespace(kubeconfigFile: string, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
  await kubectlOk(kubeconfigFile, ['create', '--filename=-'], stringify(namespace));
}

/**
 * Deletes a namespace of the suite and waits until it and the volumes of its claims are deleted. Finalizers that no
 * operator removes are removed, too.
 * @throws DeadlineError when the deletion does not complete
 */
export async function removeNamespace(kubeconfigFile: string, name: string, progress: ProgressReporter): Promise<void> {
  await progress.step(`removing the namespace ${name}`, async () => {
    await removeHeld(kubeconfigFile, name);
    await kubectlOk(kubeconfigFile, ['delete', 'namespace', name, '--wait=false', '--ignore-not-found']);
    // No new pods are created, and no pod has requests to drain.
    await kubectl(kubeconfigFile, [
      `--namespace=${name}`,
      'delete',
      'pods',
      '--all',
      '--grace-period=1',
      '--wait=false',
    ]);
    const isGone = async () => {
      const shown = await kubectlOk(kubeconfigFile, ['get', 'namespace', name, '--ignore-not-found', '--output=name']);
      if (shown === '') return true;
      await releaseHeld(kubeconfigFile, name);
      return false;
    };
    await until(`the end of the namespace ${name}`, isGone, { deadlineMs: goneMs, everyMs: 1_000 });
    await until(
      'the end of its volumes',
      async () => (await volumesOf(kubeconfigFile, name)).every(({ spec }) => !isReclaimed(spec)),
      { deadlineMs: goneMs, everyMs: 1_000 },
    );
  });
  for (const { metadata } of await volumesOf(kubeconfigFile, name)) {
    progress.say(`The volume ${metadata.name} of a claim in ${name} stays because of its reclaim policy.`);
  }
}

/** Deletes them while the operator runs, because it must remove their finalizers before the namespace can go. */
async function removeHeld(kubeconfigFile: string, namespace: string): Promise<void> {
  const within = (...args: readonly string[]) => kubectl(kubeconfigFile, [`--namespace=${namespace}`, ...args]);
  await within('annotate', heldKinds, '--all', `${confirmDeletionAnnotation}=true`);
  await within('delete', heldKinds, '--all', '--wait=false');
  const operator = '--selector=app.kubernetes.io/part-of=portcullis,app.kubernetes.io/component=operator';
  const available = '--output=jsonpath={.items[*].status.availableReplicas}';
  if ((await within('get', 'deployments', operator, available)).stdout === '') return;
  const areGone = async () => (await heldIn(kubeconfigFile, namespace)).length === 0;
  try {
    await until('the end of bindings and policies', areGone, { deadlineMs: releaseMs, everyMs: 500 });
  } catch (error) {
    // Remaining finalizers are removed with the namespace.
    if (!(error instanceof DeadlineError)) throw error;
  }
}

/** Names of objects with finalizers, in the format of kubectl; empty when the kinds are not defined. */
async function heldIn(kubeconfigFile: string, namespace: string): Promise<readonly string[]> {
  const { stdout } = await kubectl(kubeconfigFile, [`--namespace=${namespace}`, 'get', heldKinds, '--output=name']);
  return stdout.split('\n').filter((line) => line !== '');
}

async function releaseHeld(kubeconfigFile: string, namespace: string): Promise<void> {
  for (const one of await heldIn(kubeconfigFile, namespace)) {
    const patch = ['patch', one, '--type=merge', '--patch={"metadata":{"finalizers":null}}'];
    await kubectl(kubeconfigFile, [`--namespace=${namespace}`, ...patch]);
  }
}

type Volume = {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly claimRef?: { readonly namespace?: string };
    readonly persistentVolumeReclaimPolicy?: string;
  };
};

async function volumesOf(kubeconfigFile: string, namespace: string): Promise<readonly Volume[]> {
  const text = await kubectlOk(kubeconfigFile, ['get', 'persistentvolumes', '--output=json']);
  const { items } = JSON.parse(text) as { readonly items: readonly Volume[] };
  return items.filter(({ spec }) => spec.claimRef?.namespace === namespace);
}

function isReclaimed({ persistentVolumeReclaimPolicy }: Volume['spec']): boolean {
  return persistentVolumeReclaimPolicy === 'Delete';
}
