import type { GatewayReport } from '#crds/gateway-report';
import { apiVersion, kinds } from '#crds/kinds';
import type { Stored } from '#crds/metadata';
import { applyDesired } from '#kube/apply';
import type { KubeClient } from '#kube/client';
import { isKubeError } from '#kube/kube-error';
import type { ReportSink } from '../../ports.ts';

/** The GatewayReport of one replica. Each write demands the version that was read before, or creates. */
export function kubernetesReports(client: KubeClient, replica: string): ReportSink {
  let held: Stored<GatewayReport> | undefined;
  return {
    async write(spec) {
      try {
        held ??= await client.get<GatewayReport>(kinds.gatewayReport, replica);
        held =
          held === undefined
            ? await client.create<GatewayReport>(kinds.gatewayReport, {
                apiVersion,
                kind: kinds.gatewayReport.kind,
                metadata: { name: replica, namespace: client.namespace },
                spec,
              })
            : await applyDesired(client, kinds.gatewayReport, held, { spec });
      } catch (error) {
        held = undefined;
        if (isKubeError(error, 'already_exists', 'precondition_failed', 'conflict', 'not_found'))
          return this.write(spec);
        throw error;
      }
    },
  };
}
