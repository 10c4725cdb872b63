import { apiServerPlan } from '../control-plane/api-server.ts';
import { controllerManagerPlan, schedulerPlan } from '../control-plane/controllers.ts';
import { etcdPlan } from '../control-plane/etcd.ts';
import { type IdentityFiles, identityFiles } from '../control-plane/identity-files.ts';
import { clusterFolder } from '../machine/places.ts';
import { type Component, type ComponentPlan, component } from '../process/component.ts';
import type { WholeRecord } from '../record/record.ts';
import { addressesOf, apiServerPort, apiServerServiceAddress, podRange } from './addresses.ts';
import { containerdPlan } from './containerd.ts';
import { corednsPlan } from './coredns.ts';
import { kubeProxyPlan } from './kube-proxy.ts';
import { kubeletPlan } from './kubelet.ts';
import { localVolumesPlan } from './local-volumes.ts';
import { type Space, space } from './space.ts';

export function nodeNameOf(record: WholeRecord): string {
  return `${record.name}-node`;
}

export function controlGroupOf(record: WholeRecord): string {
  return `portcullis-${record.name}`;
}

export function wholeUrlOf(record: WholeRecord): string {
  return `https://${addressesOf(record.slot).node}:${apiServerPort}`;
}

export function wholeIdentitiesOf(record: WholeRecord): IdentityFiles {
  const service = 'kubernetes.default.svc';
  const names = ['localhost', 'kubernetes', 'kubernetes.default', service, `${service}.cluster.local`];
  const addresses = ['127.0.0.1', addressesOf(record.slot).node, apiServerServiceAddress];
  return identityFiles(clusterFolder(record.name), [...names, nodeNameOf(record), ...addresses]);
}

export function spaceOf(record: WholeRecord): Space {
  const { system, pause, slot, name } = record;
  return space({ folder: clusterFolder(name), system, pause: pause.program, addresses: addressesOf(slot) });
}

function controlPlanePlans(record: WholeRecord, within: Space): readonly (readonly ComponentPlan[])[] {
  const folder = clusterFolder(record.name);
  const identities = wholeIdentitiesOf(record);
  const { programs } = record;
  const { node } = addressesOf(record.slot);
  const etcdUrl = `https://${node}:2379`;
  const etcd = etcdPlan({
    program: programs.etcd,
    folder,
    identities,
    clientUrl: etcdUrl,
    peerUrl: 'https://127.0.0.1:2380',
  });
  const apiServer = apiServerPlan({
    program: programs['kube-apiserver'],
    folder,
    identities,
    etcdUrl,
    address: node,
    port: apiServerPort,
    audit: record.audit ?? undefined,
    flags: record.apiServerFlags,
  });
  const common = { identities, apiServerUrl: wholeUrlOf(record), address: node };
  const controllerManager = controllerManagerPlan(
    { ...common, program: programs['kube-controller-manager'], port: 10_257 },
    [
      '--allocate-node-cidrs=true',
      `--cluster-cidr=${podRange}`,
      `--cluster-signing-cert-file=${identities.caFile}`,
      `--cluster-signing-key-file=${identities.folder}/ca.key`,
      `--flex-volume-plugin-dir=${folder}/volume-plugins`,
    ],
  );
  const scheduler = schedulerPlan({ ...common, program: programs['kube-scheduler'], port: 10_259 });
  const inside = (plan: ComponentPlan): ComponentPlan => ({ ...plan, within: within.enter });
  return [
    [inside(etcd), containerdPlan(folder, record.system, within)],
    [inside(apiServer)],
    [inside(controllerManager), inside(scheduler)],
  ];
}

function nodePlans(record: WholeRecord, within: Space): readonly ComponentPlan[] {
  const folder = clusterFolder(record.name);
  const { programs } = record;
  const common = {
    folder,
    within,
    identities: wholeIdentitiesOf(record),
    apiServerUrl: wholeUrlOf(record),
    nodeName: nodeNameOf(record),
    nodeAddress: addressesOf(record.slot).node,
  };
  return [
    kubeletPlan({ ...common, program: programs.kubelet, controlGroup: controlGroupOf(record) }),
    kubeProxyPlan({ ...common, program: programs['kube-proxy'] }),
    corednsPlan({ ...common, program: programs.coredns }),
    localVolumesPlan({ ...common, program: programs['local-volumes'] }),
  ];
}

/**
 * Lists the processes inside of the namespaces of a whole cluster, in stages: the members of a stage start
 * concurrently, after the previous stage is ready. The function starts nothing.
 */
export function wholeStages(record: WholeRecord, within: Space): readonly (readonly Component[])[] {
  const home = { folder: clusterFolder(record.name), lasting: true };
  const [data = [], server = [], controllers = []] = controlPlanePlans(record, within);
  return [data, server, [...controllers, ...nodePlans(record, within)]].map((plans) =>
    plans.map((plan) => component(plan, home)),
  );
}
