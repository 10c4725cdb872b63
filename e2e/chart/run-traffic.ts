import { join } from 'node:path';
import { stringify } from 'yaml';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import { testPodSecurity } from '../support/test-pod-security.ts';
import type { TestImage } from './tools/chart-values.ts';

/** Results of a client in the cluster; `faults` counts unexpected results by status, code or error. */
export type Traffic = {
  readonly requests: number;
  readonly failed: number;
  readonly slowestMs: number;
  readonly faults: Readonly<Record<string, number>>;
};

type TrafficOptions = {
  readonly kubectl: (args: readonly string[], input?: string) => Promise<string>;
  readonly image: TestImage;
  /** URL of the gateway's Service within the cluster. */
  readonly url: string;
  /** Secret of the client keys. */
  readonly keys: string;
};

const name = 'traffic';

/** Sends requests to the gateway from a pod while the action runs. @returns the results of the pod */
export async function runTraffic(options: TrafficOptions, action: () => Promise<void>): Promise<Traffic> {
  const { kubectl } = options;
  await kubectl(['delete', 'pod,configmap', name, '--ignore-not-found', '--grace-period=0', '--force']);
  await kubectl(['create', 'configmap', name, `--from-file=${join(root, 'e2e', 'chart', 'traffic.mjs')}`]);
  await kubectl(['apply', '--filename=-'], stringify(podOf(options)));
  const lastLine = async (): Promise<(Traffic & { readonly isOver?: true }) | undefined> => {
    const line = (await kubectl(['logs', name, '--tail=1'])).trim();
    return line === '' ? undefined : (JSON.parse(line) as Traffic & { isOver?: true });
  };
  const patience = { everyMs: 500 };
  await until('requests are answered', async () => ((await lastLine())?.requests ?? 0) > 20, patience);
  await action();
  await kubectl(['exec', name, '--', 'node', '--eval', 'process.kill(1, "SIGTERM")']);
  return until(
    'the client has ended',
    async () => {
      const last = await lastLine();
      return last?.isOver === true ? last : undefined;
    },
    patience,
  );
}

function podOf({ image, url, keys }: TrafficOptions): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: testPodSecurity,
      containers: [
        {
          name: 'client',
          image: `${image.repository}:${image.tag}`,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '/script/traffic.mjs', url, '/keys/clients'],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '256Mi' } },
          volumeMounts: [
            { name: 'script', mountPath: '/script', readOnly: true },
            { name: 'keys', mountPath: '/keys', readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: 'script', configMap: { name } },
        { name: 'keys', secret: { secretName: keys, defaultMode: 0o440 } },
      ],
    },
  };
}
