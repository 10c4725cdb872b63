import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { Stores } from '../../caches/caches.ts';
import type { GatewayReplicas } from '../../gateways/ports.ts';
import type { PassOutcome } from '../../reconcile/outcome.ts';
import { createStopwatches } from '../../reconcile/stopwatches.ts';

/** Grace period after the end of a replica, because a restarting replica is absent for a moment. */
const goneMs = 2_000;

type ReportControllerOptions = {
  readonly client: Pick<KubeClient, 'delete'>;
  readonly stores: Pick<Stores, 'reports'>;
  readonly gateways: Pick<GatewayReplicas, 'isAlive'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly goneMs?: number;
};

/** Deletes the reports of replicas that have ended: they can never confirm a route. */
export function createReportController(options: ReportControllerOptions) {
  const { client, stores, gateways, clock, logger } = options;
  const patience = options.goneMs ?? goneMs;
  const watches = createStopwatches(clock);

  async function reconcile(name: string): Promise<PassOutcome> {
    const report = stores.reports.get(name);
    if (report === undefined || (await gateways.isAlive(name))) {
      watches.forget(name);
      return { kind: 'settled' };
    }
    const gone = watches.elapsed(name, report.spec.bootId);
    if (gone < patience) return { kind: 'waiting', afterMs: patience - gone };
    const { uid, resourceVersion } = report.metadata;
    // A replica of this name that started meanwhile has rewritten its report, so the precondition fails.
    await client.delete(kinds.gatewayReport, name, { uid, resourceVersion });
    logger.info('report_deleted', { replica: name, gateway: report.spec.gateway });
    watches.forget(name);
    return { kind: 'settled' };
  }

  return { reconcile };
}
