import { stringify } from 'yaml';
import { kubectl, kubectlOk } from '../../../hack/cluster/kubectl.ts';
import type { Progress } from '../../../hack/cluster/progress.ts';
import { DeadlineError, until } from '../../support/until.ts';
import { group } from './decide-use.ts';

const goneMs = 180_000;
const releaseMs = 90_000;
/** Kinds that an operator has to release before they go. */
const heldKinds = ['modelbindings', 'guardrailpolicies'].map((plural) => `${plural}.${group}`).join(',');

/** Makes a namespace of restricted pods. @throws Error where one of the name is there */
export async function createNamespace(kubeconfigFile: string, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
  await kubectlOk(kubeconfigFile, ['create', '--filename=-'], stringify(namespace));
}

/**
 * Removes a namespace that the suite made, and waits until it has gone with the volumes of its claims. What an operator
 * no longer releases is released here.
 * @throws DeadlineError where it does not go
 */
export async function removeNamespace(kubeconfigFile: string, name: string, progress: Progress): Promise<void> {
  await progress.step(`removing the namespace ${name}`, async () => {
    await removeHeld(kubeconfigFile, name);
    await kubectlOk(kubeconfigFile, ['delete', 'namespace', name, '--wait=false', '--ignore-not-found']);
    // From here on no pod is made there, and none has requests to end in order.
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
    progress.say(`The volume ${metadata.name} of a claim in ${name} stays, as its reclaim policy says.`);
  }
}

/** While the operator is there to release them: a namespace does not go before what it holds. */
async function removeHeld(kubeconfigFile: string, namespace: string): Promise<void> {
  const within = (...args: readonly string[]) => kubectl(kubeconfigFile, [`--namespace=${namespace}`, ...args]);
  await within('delete', heldKinds, '--all', '--wait=false');
  const operator = '--selector=app.kubernetes.io/part-of=portcullis,app.kubernetes.io/component=operator';
  const available = '--output=jsonpath={.items[*].status.availableReplicas}';
  if ((await within('get', 'deployments', operator, available)).stdout === '') return;
  const areGone = async () => (await heldIn(kubeconfigFile, namespace)).length === 0;
  try {
    await until('the end of bindings and policies', areGone, { deadlineMs: releaseMs, everyMs: 500 });
  } catch (error) {
    // What the operator does not release is released with the namespace.
    if (!(error instanceof DeadlineError)) throw error;
  }
}

/** Names of what an operator has to release, as kubectl takes them; none where the kinds are not known. */
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
