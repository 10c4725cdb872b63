import { join } from 'node:path';
import { stringify } from 'yaml';
import { until } from '#kit/testing/until';
import { root } from '../../../hack/check/run-tool.ts';
import { testPodSecurity } from '../../support/test-pod-security.ts';

export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/** Results that the pod reported. */
export type PodReport = {
  readonly requests: number;
  readonly longStreams: number;
  readonly canaries: number;
  readonly newest: number;
  readonly failed: number;
  readonly unguarded: number;
  readonly mixed: number;
  readonly samples: readonly string[];
};

export const trafficName = 'traffic';
const files = [
  'e2e/scenarios/cluster-cutover/traffic-main.ts',
  'e2e/scenarios/cutover/judged-traffic.ts',
  'e2e/scenarios/cutover/marked-policy.ts',
  'e2e/support/chat-call.ts',
  'e2e/support/load.ts',
  'libraries/kit/testing/loopback.ts',
  'libraries/kit/testing/scripted-http.ts',
  // Resolves imports of the libraries.
  'package.json',
  'e2e/support/scripted-upstream.ts',
  'libraries/kit/testing/until.ts',
];
const keyOf = (file: string): string => file.replaceAll('/', '_');
const patience = { deadlineMs: 240_000, everyMs: 1_000 };

/** Starts the pod that serves as the provider of the alias and sends requests to the gateway. */
export async function startTrafficPod(
  kubectl: Kubectl,
  options: { readonly image: string; readonly urls: readonly string[]; readonly keys: string; readonly alias: string },
): Promise<void> {
  const sources = files.map((file) => `--from-file=${keyOf(file)}=${join(root, file)}`);
  await kubectl(['create', 'configmap', trafficName, ...sources]);
  await kubectl(['apply', '--filename=-'], [service, podOf(options)].map((object) => stringify(object)).join('---\n'));
}

/** Waits until requests are answered. */
export async function untilTrafficFlows(kubectl: Kubectl): Promise<void> {
  await until('requests are answered', async () => ((await lastLine(kubectl))?.requests ?? 0) > 20, patience);
}

/** Stops the traffic and returns its results. */
export async function endTraffic(kubectl: Kubectl): Promise<PodReport> {
  await kubectl(['exec', trafficName, '--', 'node', '--eval', 'process.kill(1, "SIGTERM")']);
  return until(
    'the client has ended',
    async () => {
      const last = await lastLine(kubectl);
      return last?.isOver === true ? last : undefined;
    },
    patience,
  );
}

export async function lastLine(
  kubectl: Kubectl,
): Promise<(PodReport & { readonly faults?: number; readonly isOver?: true }) | undefined> {
  const line = (await kubectl(['logs', trafficName, '--tail=1'])).trim();
  return line.startsWith('{') ? JSON.parse(line) : undefined;
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: trafficName },
  spec: { selector: { app: trafficName }, ports: [{ port: 8_080, targetPort: 8_080 }] },
};

function podOf({ image, urls, keys, alias }: Parameters<typeof startTrafficPod>[1]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: trafficName, labels: { app: trafficName } },
    spec: {
      automountServiceAccountToken: false,
      securityContext: testPodSecurity,
      containers: [
        {
          name: 'client',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', `/script/${files[0]}`, urls.join(','), '/keys/clients', alias],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          resources: { requests: { cpu: '20m', memory: '64Mi' } },
          volumeMounts: [
            { name: 'script', mountPath: '/script', readOnly: true },
            { name: 'keys', mountPath: '/keys', readOnly: true },
          ],
        },
      ],
      volumes: [
        {
          name: 'script',
          configMap: { name: trafficName, items: files.map((file) => ({ key: keyOf(file), path: file })) },
        },
        { name: 'keys', secret: { secretName: keys, defaultMode: 0o440 } },
      ],
    },
  };
}
