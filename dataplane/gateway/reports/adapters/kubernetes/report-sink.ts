import { applyDesired } from '#kube/apply/apply';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { GatewayReport, GatewayReportSpec } from '#resources/gateway-report';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ReportSink } from '../../ports.ts';

type Replica = {
  /** Name of the report; in a cluster also the name of the pod. */
  readonly replica: string;
  /** UID of the gateway's pod. The pod owns the report, so that the report is deleted together with it. */
  readonly podUid?: string | undefined;
};

/**
 * The GatewayReport of one replica. Each write is conditional on the version that was read, or creates the report. The
 * report of an earlier pod with the same name is taken over.
 */
export function kubernetesReports(client: KubeClient, { replica, podUid }: Replica): ReportSink {
  const owner =
    podUid === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: 'v1', kind: builtinKinds.pod.kind, name: replica, uid: podUid }] };
  let held: Stored<GatewayReport> | undefined;

  async function writeOnce(spec: GatewayReportSpec): Promise<void> {
    try {
      held ??= await client.get<GatewayReport>(kinds.gatewayReport, replica);
      if (held === undefined) held = await client.create<GatewayReport>(kinds.gatewayReport, reportOf(spec));
      else held = await applyDesired(client, kinds.gatewayReport, held, { spec, ...owner });
    } catch (error) {
      held = undefined;
      throw error;
    }
  }

  function reportOf(spec: GatewayReportSpec): GatewayReport {
    const metadata = { name: replica, namespace: client.namespace, ...owner };
    return { apiVersion, kind: kinds.gatewayReport.kind, metadata, spec };
  }

  return {
    async write(spec) {
      try {
        await writeOnce(spec);
      } catch (error) {
        // The report changed in the API server since it was read.
        if (!isKubeError(error, 'already_exists', 'precondition_failed', 'conflict', 'not_found')) throw error;
        await writeOnce(spec);
      }
    },
  };
}
