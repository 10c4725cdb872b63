import { setTimeout as delay } from 'node:timers/promises';
import { sameJson } from '#kube/apply/same-json';
import type { Lease } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { allowed, componentOf, operatorLease, ourDeployments, ourPods } from '../kubectl/cluster/observe-cluster.ts';

/** What writes or serves resources, and so has to stand still while they are restored. */
const components: readonly string[] = ['operator', 'gateway', 'management'];
const lookEveryMs = 500;
const defaultLeaseSeconds = 15;

/** Looks for what runs; the same looker may be asked again. */
export type RunningLooker = () => Promise<readonly string[]>;

/**
 * Finds what of an installation runs, in sentences: pods, Deployments that are to have some, and an operator of
 * elsewhere that renews the lease. A lease that somebody holds is looked at for as long as it lasts, because its times
 * are those of another clock; a holder that was killed does not renew it. Where the caller may not look, that is a
 * sentence, too.
 */
export function createRunningLooker(client: KubeClient, say: (sentence: string) => void): RunningLooker {
  let expired: Lease['spec'] | undefined;

  async function leaseProblem(): Promise<readonly string[]> {
    const found = await allowed(() => operatorLease(client));
    if (found === undefined) return ['you may not look at leases, so an operator may run'];
    const { name, lease } = found;
    if (lease === undefined || (lease.spec.holderIdentity ?? '') === '' || sameJson(lease.spec, expired)) return [];
    const seconds = lease.spec.leaseDurationSeconds ?? defaultLeaseSeconds;
    say(`The lease ${name} is held by ${lease.spec.holderIdentity}: looking for ${seconds} s whether it is renewed`);
    for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
      await delay(lookEveryMs);
      const now = (await operatorLease(client)).lease;
      if (now !== undefined && !sameJson(now.spec, lease.spec)) return [`an operator renews the lease ${name}`];
    }
    expired = lease.spec;
    return [];
  }

  return async () => {
    const pods = await allowed(() => ourPods(client));
    const deployments = await allowed(() => ourDeployments(client));
    const isOurs = (object: Parameters<typeof componentOf>[0]): boolean => components.includes(componentOf(object));
    const problems = [
      ...(pods === undefined || deployments === undefined ? ['you may not look at pods and Deployments'] : []),
      ...(deployments ?? [])
        .filter((deployment) => isOurs(deployment) && deployment.spec.replicas !== 0)
        .map(({ metadata, spec }) => `the Deployment ${metadata.name} has ${spec.replicas ?? 1} replicas`),
      ...(pods ?? []).filter(isOurs).map(({ metadata }) => `the pod ${metadata.name} is there`),
    ];
    return problems.length > 0 ? problems : leaseProblem();
  };
}
