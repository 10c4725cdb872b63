import { clusterFolder } from '../machine/places.ts';
import { type Component, type ComponentPlan, component } from '../process/component.ts';
import type { ControlPlaneRecord } from '../record/record.ts';
import { apiServerPlan } from './api-server.ts';
import { controllerManagerPlan, schedulerPlan } from './controllers.ts';
import { etcdPlan } from './etcd.ts';
import { type IdentityFiles, identityFiles } from './identity-files.ts';
import { kwokPlan } from './kwok.ts';

const loopback = '127.0.0.1';

export function urlOf(record: ControlPlaneRecord): string {
  return `https://${loopback}:${record.ports.apiServer}`;
}

export function identitiesOf(record: ControlPlaneRecord): IdentityFiles {
  return identityFiles(clusterFolder(record.name), [loopback, 'localhost', 'kubernetes.default.svc']);
}

/** Lists the processes of a control plane in start order, without starting any. */
export function controlPlaneComponents(record: ControlPlaneRecord): readonly Component[] {
  const folder = clusterFolder(record.name);
  const identities = identitiesOf(record);
  const { programs, ports } = record;
  const etcdUrl = `https://${loopback}:${ports.etcd}`;
  const etcd = etcdPlan({
    program: programs.etcd,
    folder,
    identities,
    clientUrl: etcdUrl,
    peerUrl: `https://${loopback}:${ports.etcdPeer}`,
  });
  const apiServer = apiServerPlan({
    program: programs['kube-apiserver'],
    folder,
    identities,
    etcdUrl,
    address: loopback,
    port: ports.apiServer,
    audit: record.audit ?? undefined,
    flags: record.apiServerFlags,
  });
  const common = { identities, apiServerUrl: urlOf(record), address: loopback };
  const withProgram = (name: keyof typeof programs, port: number) => ({ ...common, program: programs[name], port });
  const controllerManager = controllerManagerPlan(withProgram('kube-controller-manager', ports.controllerManager));
  const hasNodes = record.pretendedNodes > 0;
  const plans: readonly ComponentPlan[] = [
    etcd,
    apiServer,
    ...(record.controllers || hasNodes ? [controllerManager] : []),
    ...(hasNodes
      ? [schedulerPlan(withProgram('kube-scheduler', ports.scheduler)), kwokPlan(withProgram('kwok', ports.kwok))]
      : []),
  ];
  return plans.map((plan) => component(plan, { folder, lasting: record.owner?.pid !== process.pid }));
}
