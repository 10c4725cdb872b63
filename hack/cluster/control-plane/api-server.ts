import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { AuditLevel } from '../record/record.ts';
import type { IdentityFiles } from './identity-files.ts';

type ApiServerOptions = {
  readonly program: string;
  readonly folder: string;
  readonly identities: IdentityFiles;
  readonly etcdUrl: string;
  readonly address: string;
  readonly port: number;
  readonly audit: AuditLevel | undefined;
  /** kube-apiserver uses the last of repeated flags. */
  readonly flags: readonly string[];
};

const serviceRange = '10.96.0.0/16';

export function auditLogOf(folder: string): string {
  return join(folder, 'audit.jsonl');
}

/**
 * The audit policy, by which every request is logged once, when it is answered (a watch at its start and its end),
 * except health checks.
 */
function auditPolicy(level: AuditLevel): string {
  return stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'None', nonResourceURLs: ['/readyz*', '/livez*', '/healthz*'] }, { level }],
  });
}

function auditPolicyFile(folder: string): string {
  return join(folder, 'audit-policy.yaml');
}

function auditFlags(folder: string): readonly string[] {
  return [
    `--audit-policy-file=${auditPolicyFile(folder)}`,
    `--audit-log-path=${auditLogOf(folder)}`,
    // In blocking mode a request is logged before it is answered, so that a test can count requests immediately.
    '--audit-log-mode=blocking-strict',
  ];
}

export function apiServerPlan(options: ApiServerOptions): ComponentPlan {
  const { program, folder, identities, etcdUrl, address, port, audit, flags } = options;
  const { caFile, serverFile, serverKeyFile, serviceAccountKeyFile } = identities;
  return {
    name: 'kube-apiserver',
    command: program,
    args: [
      `--etcd-servers=${etcdUrl}`,
      `--etcd-cafile=${caFile}`,
      `--etcd-certfile=${serverFile}`,
      `--etcd-keyfile=${serverKeyFile}`,
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${serverFile}`,
      `--tls-private-key-file=${serverKeyFile}`,
      `--client-ca-file=${caFile}`,
      `--kubelet-certificate-authority=${caFile}`,
      `--kubelet-client-certificate=${identities.admin.certificateFile}`,
      `--kubelet-client-key=${identities.admin.keyFile}`,
      '--kubelet-preferred-address-types=InternalIP',
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${serviceAccountKeyFile}`,
      `--service-account-signing-key-file=${serviceAccountKeyFile}`,
      `--service-cluster-ip-range=${serviceRange}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      '--profiling=false',
      // Kubernetes refuses endpoints on the loopback interface, so the endpoints of the API server are not maintained.
      ...(address.startsWith('127.') ? ['--endpoint-reconciler-type=none'] : []),
      ...(audit === undefined ? [] : auditFlags(folder)),
      ...flags,
    ],
    prepare: () => {
      if (audit !== undefined) writeFileSync(auditPolicyFile(folder), auditPolicy(audit));
    },
    isReady: () => answersOk(`https://${address}:${port}/readyz`, identities.admin),
    readyWithinMs: 90_000,
  };
}
