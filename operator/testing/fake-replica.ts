import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { v4 as uuid } from 'uuid';
import { isKubeError } from '#kube/client/kube-error';
import type { GatewayReport, GatewayReportSpec } from '#resources/gateway-report';
import { type GatewayRoute, routeFormatVersion } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { TestOperator } from './start-test-operator.ts';

/** How a replica reacts to a version of a route; a `silent` replica writes no report at all. */
export type Attitude = 'take' | 'pend' | 'silent' | { readonly reject: string };

/** A gateway replica as the operator sees it: a running process and its report. The replica serves no requests. */
export type FakeReplica = {
  readonly name: string;
  /** Evaluates every route again, writes the report and returns it. */
  report(
    attitude?: Attitude | ((route: Stored<GatewayRoute>) => Attitude),
    change?: Partial<GatewayReportSpec>,
  ): Promise<void>;
  /** Ends the process; its report stays. */
  die(): Promise<void>;
};

export async function startFakeReplica(
  platform: Pick<TestOperator, 'client' | 'data'>,
  name: string,
  gateway = 'default',
): Promise<FakeReplica> {
  const runFile = join(platform.data, 'run', `${name}.json`);
  await mkdir(join(platform.data, 'run'), { recursive: true });
  await writeFile(runFile, JSON.stringify({ name, kind: 'gateway', pid: process.pid, startedAt: '' }));
  const bootId = uuid();
  const taken = new Map<string, { readonly workload: string; readonly generationId: string }>();

  return {
    name,
    async report(attitude = 'take', change = {}) {
      const { items, resourceVersion } = await platform.client.list<GatewayRoute>(kinds.gatewayRoute);
      const own = items.filter((route) => route.spec.gateway === gateway);
      for (const key of taken.keys()) if (!own.some((route) => route.metadata.name === key)) taken.delete(key);
      const pending: GatewayReportSpec['pending'] = [];
      const rejected: GatewayReportSpec['rejected'] = [];
      for (const route of own) {
        const said = typeof attitude === 'function' ? attitude(route) : attitude;
        const { name: key, uid, resourceVersion: version } = route.metadata;
        if (said === 'silent') return;
        if (said === 'pend') pending.push({ route: key, uid, version });
        else if (said !== 'take') rejected.push({ route: key, uid, version, reason: said.reject });
        else if (route.spec.workload === undefined) taken.delete(key);
        else taken.set(key, { workload: route.spec.workload, generationId: route.spec.generationId });
      }
      const spec: GatewayReportSpec = {
        gateway,
        bootId,
        ready: true,
        formats: [routeFormatVersion],
        appliedThrough: resourceVersion,
        pending,
        rejected,
        inUse: [...taken.values()],
        ...change,
      };
      await writeReport(platform, name, spec);
    },
    die: () => rm(runFile, { force: true }),
  };
}

async function writeReport(
  platform: Pick<TestOperator, 'client'>,
  name: string,
  spec: GatewayReportSpec,
): Promise<void> {
  const { client } = platform;
  const report: GatewayReport = { apiVersion, kind: kinds.gatewayReport.kind, metadata: { name }, spec };
  try {
    await client.create<GatewayReport>(kinds.gatewayReport, report);
  } catch (error) {
    if (!isKubeError(error, 'already_exists')) throw error;
    await client.patch(kinds.gatewayReport, name, [{ op: 'replace', path: '/spec', value: spec }]);
  }
}
