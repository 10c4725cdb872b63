import { setTimeout as delay } from 'node:timers/promises';
import { sameJson } from '#kube/apply/same-json';
import type { Lease } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { allowed, componentOf, operatorLease, ourDeployments, ourPods } from '../cluster/installation-objects.ts';

/** Components that write or serve resources, and must be stopped during a restore. */
const components: readonly string[] = ['operator', 'gateway', 'management'];
const lookEveryMs = 500;
const defaultLeaseSeconds = 15;

/** Lists running components, one sentence each. The function can be called repeatedly. */
export type RunningComponents = () => Promise<readonly string[]>;

/**
 * Finds running components of an installation: pods, Deployments with replicas, and an operator elsewhere that renews
 * the Lease. A held Lease is watched for its duration, because its times come from another clock; a killed holder does
 * not renew it. A missing permission to read counts as running.
 */
export function findRunningComponents(client: KubeClient, say: (sentence: string) => void): RunningComponents {
  let expired: Lease['spec'] | undefined;

  async function leaseProblem(): Promise<readonly string[]> {
    const found = await allowed(() => operatorLease(client));
    if (found === undefined) return ['you are not allowed to read leases, so an operator may be running'];
    const { name, lease } = found;
    if (lease === undefined || (lease.spec.holderIdentity ?? '') === '' || sameJson(lease.spec, expired)) return [];
    const seconds = lease.spec.leaseDurationSeconds ?? defaultLeaseSeconds;
    say(`The lease ${name} is held by ${lease.spec.holderIdentity}: waiting ${seconds} s to see whether it is renewed`);
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
      ...(pods === undefined || deployments === undefined ? ['you are not allowed to read pods and Deployments'] : []),
      ...(deployments ?? [])
        .filter((deployment) => isOurs(deployment) && deployment.spec.replicas !== 0)
        .map(({ metadata, spec }) => `the Deployment ${metadata.name} has ${spec.replicas ?? 1} replicas`),
      ...(pods ?? []).filter(isOurs).map(({ metadata }) => `the pod ${metadata.name} exists`),
    ];
    return problems.length > 0 ? problems : leaseProblem();
  };
}
