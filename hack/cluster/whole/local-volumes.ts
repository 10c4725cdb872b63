import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { componentKubeconfig } from '../control-plane/kubeconfig.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { NodeProgram } from './node-program.ts';

export const volumesUser = 'local-volumes';
export const provisioner = 'cluster.local/local-volumes';

/** Provisions a folder for each claim of the default storage class. */
export function localVolumesPlan(options: NodeProgram): ComponentPlan {
  const { program, folder, within } = options;
  const kubeconfig = componentKubeconfig(options, 'local-volumes', { commonName: volumesUser });
  const volumes = join(folder, 'volumes');
  return {
    name: 'local-volumes',
    command: program,
    args: [`-kubeconfig=${kubeconfig.path}`, `-folder=${volumes}`, `-provisioner=${provisioner}`],
    within: within.enter,
    prepare: () => {
      mkdirSync(volumes, { recursive: true });
      kubeconfig.write();
    },
    // The provisioner has no health endpoint: its effect is visible in claims.
    isReady: async () => true,
    readyWithinMs: 10_000,
  };
}
