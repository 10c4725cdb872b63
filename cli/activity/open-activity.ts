import { type CollectedActivity, collectedActivitySchema } from '#contracts/activity';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { isOverApi } from '../management/is-over-api.ts';
import { openManagement } from '../management/management-options.ts';
import { openResourceReader } from '../management/resource-reader.ts';
import { sendRequest } from '../management/send-request.ts';
import { openPlatform } from '../platform/open-platform.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import type { SourceOptions } from '../resources/resource-source.ts';
import { readActivity } from './read-activity.ts';

/** The decisions of an installation, and the names of its policies. */
type OpenedActivity = {
  /** @throws CliError, ManagementApiError, ManagementUnreachableError */
  readonly read: () => Promise<CollectedActivity>;
  readonly policyNames: () => Promise<(policyId: string) => string>;
};

/** Maximum number of decisions in one answer of the management API. */
const apiLimit = 1_000;

/** Reads the gateways of the platform of this machine, or the management API, which queries every gateway replica. */
export function openActivity(options: SourceOptions): OpenedActivity {
  if (!isOverApi(options)) {
    const platform = runningPlatform(options.data);
    return {
      read: () => readActivity(platform),
      policyNames: () =>
        namesFrom(async (use) => {
          await using resources = openPlatform(platform, options);
          await use(resources.client);
        }),
    };
  }
  const { connection } = openManagement(options);
  const path = `/api/v1/activity?limit=${apiLimit}`;
  return {
    read: async () => (await sendRequest(connection, { method: 'GET', path }, collectedActivitySchema)).value,
    policyNames: () =>
      namesFrom(async (use: (client: KubeClient) => Promise<void>) => use(await openResourceReader(connection))),
  };
}

/**
 * Returns the resource name of a policy for its id; if the policy is deleted or the server does not answer, it returns
 * the id itself, so that decisions can be shown in these cases, too.
 */
async function namesFrom(
  withClient: (use: (client: KubeClient) => Promise<void>) => Promise<void>,
): Promise<(policyId: string) => string> {
  const names = new Map<string, string>();
  try {
    await withClient(async (client) => {
      const { items } = await listAll<GuardrailPolicy>(client, kinds.guardrailPolicy);
      for (const { metadata } of items) names.set(metadata.labels?.[idLabel] ?? '', metadata.name);
    });
  } catch {
    return (policyId) => policyId;
  }
  return (policyId) => names.get(policyId) ?? policyId;
}
