import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ComponentPlan } from '../process/component.ts';
import type { SystemPrograms } from '../record/record.ts';
import { nodePodRange } from './addresses.ts';
import { pauseImage } from './pause.ts';
import type { Space } from './space.ts';

export function containerdSocket(folder: string): string {
  return join(folder, 'containerd.sock');
}

/**
 * The magic number of an overlay file system: in a container the overlay snapshotter does not work, because overlays
 * cannot be nested.
 */
const overlayMagic = 0x794c7630;

function configOf(folder: string, system: SystemPrograms): string {
  const snapshotter = statfsSync(folder).type === overlayMagic ? 'native' : 'overlayfs';
  const text = (value: string): string => JSON.stringify(value);
  return `version = 2
root = ${text(join(folder, 'containerd'))}
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[grpc]
address = ${text(containerdSocket(folder))}

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = ${text(pauseImage)}
disable_apparmor = true
# Without the capability SYS_RESOURCE a lower score than its own is refused, and no sandbox starts.
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = ${text(snapshotter)}

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = ${text(system.runc)}

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = ${text(system.cniFolder)}
conf_dir = ${text(join(folder, 'cni'))}
`;
}

function networkOf(folder: string): string {
  // Each pod gets a pair of interfaces and no bridge, so that every packet passes the rules of Services.
  const pair = {
    type: 'ptp',
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet: nodePodRange }]],
      routes: [{ dst: '0.0.0.0/0' }],
      dataDir: join(folder, 'cni-addresses'),
    },
  };
  const portmap = { type: 'portmap', capabilities: { portMappings: true } };
  return JSON.stringify({ cniVersion: '0.4.0', name: 'pods', plugins: [pair, portmap] }, undefined, 2);
}

function isListening(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    connection.on('error', () => resolve(false));
  });
}

/** containerd runs the containers. The pod network has no route out of the machine. */
export function containerdPlan(folder: string, system: SystemPrograms, within: Space): ComponentPlan {
  const configFile = join(folder, 'containerd.toml');
  return {
    name: 'containerd',
    command: system.containerd,
    args: [`--config=${configFile}`, '--log-level=warn'],
    within: within.enter,
    prepare: () => {
      mkdirSync(join(folder, 'cni'), { recursive: true });
      writeFileSync(join(folder, 'cni', 'pods.conflist'), networkOf(folder));
      writeFileSync(configFile, configOf(folder, system));
    },
    isReady: () => isListening(containerdSocket(folder)),
    readyWithinMs: 30_000,
  };
}
