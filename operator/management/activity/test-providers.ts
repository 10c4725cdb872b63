import {
  type CollectedProviderTests,
  joinProviderTests,
  providerTestPath,
  providerTestRequest,
  readReplicaTest,
} from '#contracts/provider-test';
import { fetchJson } from '#kit/http/fetch-json';
import type { TokenFile } from '#kit/http/token-file';
import type { GatewayReplicas, ReplicaAdmin } from '../../gateways/ports.ts';

/** Makes every gateway replica test the provider of an alias. */
export type ProviderTests = { test(alias: string): Promise<CollectedProviderTests> };

/** @param options.token the token of administrators of gateways; without it no replica is called */
export function createProviderTests(options: {
  readonly gateways: Pick<GatewayReplicas, 'admins'>;
  readonly token: Pick<TokenFile, 'first'> | undefined;
}): ProviderTests {
  const { gateways, token } = options;

  async function askReplica({ replica, origin }: ReplicaAdmin, alias: string): Promise<CollectedProviderTests> {
    const missing = (reason: string) => ({ items: [], missing: [{ replica, reason }] });
    if (token === undefined) return missing('is not asked: PORTCULLIS_ADMIN_TOKEN_FILE of this process is not set');
    if (origin === undefined) return missing('has no known admin address yet');
    const url = `${origin}${providerTestPath(alias)}`;
    const read = await fetchJson(url, { ...providerTestRequest, token: token.first() });
    return readReplicaTest(replica, read.kind === 'silent' ? {} : read);
  }

  return {
    test: async (alias) =>
      joinProviderTests(await Promise.all((await gateways.admins()).map((replica) => askReplica(replica, alias)))),
  };
}
