import { activityRequest, type CollectedActivity, joinActivity, readReplicaActivity } from '#contracts/activity';
import { fetchJson } from '#kit/http/fetch-json';
import type { TokenFile } from '#kit/http/token-file';
import type { GatewayReplicas, ReplicaAdmin } from '../../gateways/ports.ts';

/** Collects the newest decisions of every gateway replica. */
export type ActivityCollector = { collect(): Promise<CollectedActivity> };

/** @param options.token the token of administrators of gateways; without one no decision is read */
export function createActivityCollector(options: {
  readonly gateways: Pick<GatewayReplicas, 'admins'>;
  readonly token: Pick<TokenFile, 'first'> | undefined;
}): ActivityCollector {
  const { gateways, token } = options;

  async function readReplica({ replica, origin }: ReplicaAdmin): Promise<CollectedActivity> {
    const missing = (reason: string) => ({ items: [], missing: [{ replica, reason }] });
    if (token === undefined) return missing('is not asked: PORTCULLIS_ADMIN_TOKEN_FILE of this process is not set');
    if (origin === undefined) return missing('has no known admin address yet');
    const read = await fetchJson(`${origin}/activity`, { ...activityRequest, token: token.first() });
    return readReplicaActivity(replica, read.kind === 'silent' ? {} : read);
  }

  return {
    collect: async () => joinActivity(await Promise.all((await gateways.admins()).map(readReplica))),
  };
}
