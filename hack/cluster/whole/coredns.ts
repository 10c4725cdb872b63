import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { componentKubeconfig } from '../control-plane/kubeconfig.ts';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { NodeProgram } from './node-program.ts';

const readyPort = 8_181;
export const dnsUser = 'system:coredns';

/** Resolves Services and pods; every other name is answered immediately with NXDOMAIN. */
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

export function corednsPlan(options: NodeProgram): ComponentPlan {
  const { program, folder, within, nodeAddress } = options;
  const corefile = join(folder, 'Corefile');
  const kubeconfig = componentKubeconfig(options, 'coredns', { commonName: dnsUser });
  return {
    name: 'coredns',
    command: program,
    args: ['-conf', corefile],
    within: within.enter,
    prepare: () => {
      kubeconfig.write();
      writeFileSync(corefile, corefileOf(nodeAddress, kubeconfig.path));
    },
    isReady: () => answersOk(`http://${nodeAddress}:${readyPort}/ready`),
    readyWithinMs: 60_000,
  };
}
