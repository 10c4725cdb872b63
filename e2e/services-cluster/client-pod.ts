import { stringify } from 'yaml';
import type { TestImage } from '../chart/tools/chart-values.ts';

export type ServicesKubectl = (args: readonly string[], input?: string) => Promise<string>;

/** A request from within the cluster, to the name of a Service. */
export type ClusterRequest = {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
};

export type ClusterAnswer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> };

const name = 'client';
/** Reads a request from standard input and prints its answer. */
const script = `
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { url, ...init } = JSON.parse(Buffer.concat(chunks));
const answer = await fetch(url, init);
console.log(JSON.stringify({ status: answer.status, text: await answer.text() }));
`;

/** A pod that sends requests of a test, so that names, Services and ports are those that clients of a cluster use. */
export async function startClientPod(
  kubectl: ServicesKubectl,
  image: TestImage,
): Promise<(request: ClusterRequest) => Promise<ClusterAnswer>> {
  await kubectl(['apply', '--filename=-'], stringify(podOf(image)));
  await kubectl(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=5m']);
  return async ({ body, headers = {}, ...rest }) => {
    const sent = {
      ...rest,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const exec = ['exec', '--stdin', name, '--', 'node', '--input-type=module', '--eval', script];
    const { status, text } = JSON.parse(await kubectl(exec, JSON.stringify(sent))) as { status: number; text: string };
    return { status, json: JSON.parse(text) as ClusterAnswer['json'] };
  };
}

function podOf({ repository, tag }: TestImage): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name,
          image: `${repository}:${tag}`,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '--eval', 'setInterval(() => undefined, 60_000)'],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}
