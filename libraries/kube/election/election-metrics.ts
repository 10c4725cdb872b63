import type { Metrics } from '#kit/metrics/metrics';
import type { ElectionMeter } from './leader-election.ts';

/** Metrics of an election under the names of client-go. Both series are initialised, so that a standby exports them. */
export function createElectionMeter(metrics: Metrics, lease: string): ElectionMeter {
  const labels = { name: [lease] } as const;
  const status = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process is the leader: 1 or 0.',
    labels,
  });
  const slowPaths = metrics.counter({
    name: 'leader_election_slowpath_total',
    help: 'Renewals that had to read the lease first, because another client had written it.',
    labels,
  });
  status.set({ name: lease }, 0);
  slowPaths.add({ name: lease }, 0);
  return {
    leading: (isLeader) => status.set({ name: lease }, isLeader ? 1 : 0),
    slowPath: () => slowPaths.add({ name: lease }),
  };
}
