import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IdentityFiles } from '../control-plane/identity-files.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { Space } from './space.ts';

type CorednsOptions = {
  readonly program: string;
  readonly folder: string;
  readonly within: Space;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly nodeAddress: string;
};

const readyPort = 8_181;
export const dnsUser = 'system:coredns';

/** Resolves Services and pods; every other name is answered at once with NXDOMAIN. */
function corefileOf(nodeAddress: string, kubeconfig: string): string {
  return `cluster.local in-addr.arpa ip6.arpa {
  bind ${nodeAddress}
  errors
  ready ${nodeAddress}:${readyPort}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig}
    pods insecure
    ttl 5
  }
}
. {
  bind ${nodeAddress}
  errors
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`;
}

export function corednsPlan(options: CorednsOptions): ComponentPlan {
  const { program, folder, within, identities, apiServerUrl, nodeAddress } = options;
  const corefile = join(folder, 'Corefile');
  const kubeconfig = join(identities.folder, 'coredns.kubeconfig');
  return {
    name: 'coredns',
    command: program,
    args: ['-conf', corefile],
    within: within.enter,
    prepare: () => {
      const client = identities.client('coredns', { commonName: dnsUser });
      writeKubeconfig(kubeconfig, { name: 'local', url: apiServerUrl, user: dnsUser }, client);
      writeFileSync(corefile, corefileOf(nodeAddress, kubeconfig));
    },
    isReady: () => answersOk(`http://${nodeAddress}:${readyPort}/ready`),
    readyWithinMs: 60_000,
  };
}
