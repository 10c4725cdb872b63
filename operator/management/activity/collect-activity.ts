import { activityRequest, type CollectedActivity, joinActivity, readReplicaActivity } from '#contracts/activity';
import { type CollectedCounts, joinCounts, missingCounts, readReplicaCounts } from '#contracts/decision-counts';
import { fetchJson } from '#kit/http/fetch-json';
import type { TokenFile } from '#kit/http/token-file';
import type { GatewayReplicas, ReplicaAdmin } from '../../gateways/ports.ts';

/** Collects the decisions of every gateway replica. */
export type ActivityCollector = {
  /** Collects the newest decisions. */
  collect(): Promise<CollectedActivity>;
  /** Counts the decisions in each of the last minutes. */
  count(): Promise<CollectedCounts>;
};

/** @param options.token the token of administrators of gateways; without it no decision is read */
export function createActivityCollector(options: {
  readonly gateways: Pick<GatewayReplicas, 'admins'>;
  readonly token: Pick<TokenFile, 'first'> | undefined;
}): ActivityCollector {
  const { gateways, token } = options;

  async function ask({ origin }: ReplicaAdmin, path: string) {
    if (token === undefined)
      return { reason: 'is not asked: PORTCULLIS_ADMIN_TOKEN_FILE of this process is not set' } as const;
    if (origin === undefined) return { reason: 'has no known admin address yet' } as const;
    const read = await fetchJson(`${origin}${path}`, { ...activityRequest, token: token.first() });
    return { answer: read.kind === 'silent' ? {} : read } as const;
  }

  async function readReplica(admin: ReplicaAdmin): Promise<CollectedActivity> {
    const { replica } = admin;
    const { answer, reason } = await ask(admin, '/activity');
    return answer === undefined ? { items: [], missing: [{ replica, reason }] } : readReplicaActivity(replica, answer);
  }

  async function countReplica(admin: ReplicaAdmin): Promise<CollectedCounts> {
    const { replica } = admin;
    const { answer, reason } = await ask(admin, '/decision-counts');
    return answer === undefined ? missingCounts({ replica, reason }) : readReplicaCounts(replica, answer);
  }

  return {
    collect: async () => joinActivity(await Promise.all((await gateways.admins()).map(readReplica))),
    count: async () => joinCounts(await Promise.all((await gateways.admins()).map(countReplica))),
  };
}
