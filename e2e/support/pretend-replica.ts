import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { KubeClient } from '#kube/client/client';
import type { GatewayReport, GatewayReportSpec } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';

/** A replica that writes a report like a gateway and serves no requests. */
type PretendReplica = AsyncDisposable & {
  /** Sets whether the replica accepts or rejects new routes. */
  readonly answer: (verdict: 'take' | 'reject') => void;
};

const lookMs = 40;

function reportOf(bootId: string, through: string, refused: readonly Stored<GatewayRoute>[]): GatewayReportSpec {
  return {
    gateway: 'default',
    bootId,
    ready: true,
    formats: [1],
    appliedThrough: through,
    pending: [],
    rejected: refused.map(({ metadata: { name: route, uid, resourceVersion: version } }) => ({
      route,
      uid,
      version,
      reason: 'a replica of a test rejects it',
    })),
    inUse: [],
  };
}

/**
 * Adds a gateway replica to a platform: this process is listed for it in the run folder, and its report follows every
 * change of the routes.
 */
export async function joinAsReplica(client: KubeClient, data: string, name: string): Promise<PretendReplica> {
  const bootId = uuid();
  const taken = new Set<string>();
  let verdict: 'take' | 'reject' = 'take';
  let written = '';
  let stopped = false;

  async function currentSpec(): Promise<GatewayReportSpec> {
    const { items, resourceVersion } = await client.list<GatewayRoute>(kinds.gatewayRoute);
    if (verdict === 'take') for (const { spec } of items) taken.add(spec.generationId);
    const refused = items.filter(({ spec }) => !taken.has(spec.generationId));
    return reportOf(bootId, resourceVersion, refused);
  }

  async function report(): Promise<void> {
    const { items } = await client.list<GatewayRoute>(kinds.gatewayRoute);
    const seen = `${verdict} ${items.map(({ metadata }) => metadata.resourceVersion).join(' ')}`;
    if (seen === written) return;
    const spec = await currentSpec();
    await client.patch<GatewayReport>(kinds.gatewayReport, name, [{ op: 'replace', path: '/spec', value: spec }]);
    written = seen;
  }

  async function keepReporting(): Promise<void> {
    while (!stopped) {
      await report();
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  writeFileSync(
    join(data, 'run', `${name}.json`),
    JSON.stringify({ name, kind: 'gateway', pid: process.pid, startedAt: new Date().toISOString() }),
  );
  const spec = await currentSpec();
  await client.create<GatewayReport>(kinds.gatewayReport, {
    apiVersion,
    kind: 'GatewayReport',
    metadata: { name },
    spec,
  });
  const reporting = keepReporting();
  return {
    answer: (next) => {
      verdict = next;
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      await reporting;
    },
  };
}
