import {
  type CollectedProviderTests,
  collectedProviderTestsSchema,
  joinProviderTests,
  providerTestPath,
  providerTestRequest,
  readReplicaTest,
} from '#contracts/provider-test';
import { fetchJson } from '#kit/http/fetch-json';
import { openTokenFile } from '#kit/http/token-file';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { isOverApi } from '../management/is-over-api.ts';
import { openManagement } from '../management/management-options.ts';
import { openResourceReader } from '../management/resource-reader.ts';
import { sendRequest } from '../management/send-request.ts';
import { withPlatform } from '../platform/open-platform.ts';
import { type RunningPlatform, runningPlatform } from '../platform/running-platform.ts';
import { readResource } from '../resources/read-resource.ts';
import type { SourceOptions } from '../resources/resource-source.ts';

/** Whether the management API runs the test; the API reads bindings, but no files of this machine. */
export function isTestedByApi(options: SourceOptions): boolean {
  return isOverApi(options);
}

/**
 * Makes the gateway replicas test the provider of a binding: the replicas of this machine, or those behind the
 * management API.
 */
export function openProviderTests(options: SourceOptions): (binding: string) => Promise<CollectedProviderTests> {
  if (!isOverApi(options)) {
    const platform = runningPlatform(options.data);
    return async (binding) => {
      const alias = await withPlatform(platform, options, ({ client }) => aliasOf(client, binding));
      return askGateways(platform, alias);
    };
  }
  const { connection } = openManagement(options);
  return async (binding) => {
    const alias = await aliasOf(await openResourceReader(connection), binding);
    const path = `/api/v1${providerTestPath(alias)}`;
    return (await sendRequest(connection, { method: 'POST', path }, collectedProviderTestsSchema)).value;
  };
}

async function aliasOf(client: Pick<KubeClient, 'get' | 'list'>, binding: string): Promise<string> {
  return (await readResource<ModelBinding>(client as KubeClient, kinds.modelBinding, binding)).spec.model.alias;
}

async function askGateways({ data, status }: RunningPlatform, alias: string): Promise<CollectedProviderTests> {
  const token = openTokenFile(data.adminToken).first();
  const names = status.processes.filter(({ kind }) => kind === 'gateway').map(({ name }) => name);
  const parts = await Promise.all(
    status.addresses.gatewayAdmins.map(async (origin, at) => {
      const read = await fetchJson(`${origin}${providerTestPath(alias)}`, { ...providerTestRequest, token });
      return readReplicaTest(names[at] ?? origin, read.kind === 'silent' ? {} : read);
    }),
  );
  return joinProviderTests(parts);
}
