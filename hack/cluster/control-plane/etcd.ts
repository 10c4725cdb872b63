import { join } from 'node:path';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { IdentityFiles } from './identity-files.ts';

type EtcdOptions = {
  readonly program: string;
  readonly folder: string;
  readonly identities: IdentityFiles;
  /** Addresses on the loopback interface, with https. */
  readonly clientUrl: string;
  readonly peerUrl: string;
};

/**
 * An etcd cluster with one member. It answers only clients with a certificate of the cluster. A crash of the machine
 * may lose its data.
 */
export function etcdPlan({ program, folder, identities, clientUrl, peerUrl }: EtcdOptions): ComponentPlan {
  const { caFile, serverFile, serverKeyFile } = identities;
  return {
    name: 'etcd',
    command: program,
    args: [
      '--name=local',
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${clientUrl}`,
      `--advertise-client-urls=${clientUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=local=${peerUrl}`,
      '--client-cert-auth=true',
      `--trusted-ca-file=${caFile}`,
      `--cert-file=${serverFile}`,
      `--key-file=${serverKeyFile}`,
      '--peer-client-cert-auth=true',
      `--peer-trusted-ca-file=${caFile}`,
      `--peer-cert-file=${serverFile}`,
      `--peer-key-file=${serverKeyFile}`,
      '--unsafe-no-fsync=true',
      '--logger=zap',
      '--log-level=warn',
    ],
    isReady: () => answersOk(`${clientUrl}/health`, identities.admin),
    readyWithinMs: 30_000,
  };
}
