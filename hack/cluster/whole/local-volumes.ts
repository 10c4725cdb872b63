import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { IdentityFiles } from '../control-plane/identity-files.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { Space } from './space.ts';

type LocalVolumesOptions = {
  readonly program: string;
  readonly folder: string;
  readonly within: Space;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
};

export const volumesUser = 'local-volumes';
export const provisioner = 'cluster.local/local-volumes';

/** Makes a folder for each claim of the default storage class. */
export function localVolumesPlan({
  program,
  folder,
  within,
  identities,
  apiServerUrl,
}: LocalVolumesOptions): ComponentPlan {
  const kubeconfig = join(identities.folder, 'local-volumes.kubeconfig');
  const volumes = join(folder, 'volumes');
  return {
    name: 'local-volumes',
    command: program,
    args: [`-kubeconfig=${kubeconfig}`, `-folder=${volumes}`, `-provisioner=${provisioner}`],
    within: within.enter,
    prepare: () => {
      mkdirSync(volumes, { recursive: true });
      const client = identities.client('local-volumes', { commonName: volumesUser });
      writeKubeconfig(kubeconfig, { name: 'local', url: apiServerUrl, user: volumesUser }, client);
    },
    // It has no port: its effect is visible in claims.
    isReady: async () => true,
    readyWithinMs: 10_000,
  };
}
