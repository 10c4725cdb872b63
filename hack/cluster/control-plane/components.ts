import { clusterFolder } from '../places.ts';
import { kwokPlan } from '../pretended/kwok.ts';
import { type Component, type ComponentPlan, component } from '../process/component.ts';
import type { ControlPlaneRecord } from '../record.ts';
import { apiServerPlan } from './api-server.ts';
import { controllerManagerPlan } from './controller-manager.ts';
import { etcdPlan } from './etcd.ts';
import { type IdentityFiles, identityFiles } from './identity-files.ts';
import { schedulerPlan } from './scheduler.ts';

const loopback = '127.0.0.1';

export function urlOf(record: ControlPlaneRecord): string {
  return `https://${loopback}:${record.ports.apiServer}`;
}

export function identitiesOf(record: ControlPlaneRecord): IdentityFiles {
  return identityFiles(clusterFolder(record.name), [loopback, 'localhost', 'kubernetes.default.svc']);
}

function pretendedPlans(record: ControlPlaneRecord, identities: IdentityFiles): readonly ComponentPlan[] {
  const { programs } = record;
  const common = { identities, apiServerUrl: urlOf(record), address: loopback };
  return [
    schedulerPlan({ ...common, program: programs['kube-scheduler'], port: record.ports.scheduler }),
    kwokPlan({ ...common, program: programs.kwok, port: record.ports.kwok }),
  ];
}

/** The processes of a control plane in the order in which they start; starts nothing. */
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
  const controllerManager = controllerManagerPlan({
    program: programs['kube-controller-manager'],
    folder,
    identities,
    apiServerUrl: urlOf(record),
    address: loopback,
    port: ports.controllerManager,
    flags: [],
  });
  const hasNodes = record.pretendedNodes > 0;
  const plans = [etcd, apiServer, ...(record.controllers || hasNodes ? [controllerManager] : [])];
  return [...plans, ...(hasNodes ? pretendedPlans(record, identities) : [])].map((plan) =>
    component(plan, { folder, lasting: record.owner?.pid !== process.pid }),
  );
}
