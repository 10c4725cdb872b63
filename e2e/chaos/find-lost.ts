import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { KubeObject } from '#kube/client/kube-object';
import type { GatewayReport } from '#resources/gateway-report';
import { type Kind, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { unsettled } from '../model/settled.ts';
import { chatCall } from '../support/chat-call.ts';
import { churnDeniedWord, sidePolicy } from './churn.ts';
import { chaosClientKey, type LocalCluster } from './local-cluster.ts';

const compared: readonly Kind[] = [
  ...Object.values(kinds),
  builtinKinds.deployment,
  builtinKinds.service,
  builtinKinds.networkPolicy,
  builtinKinds.configMap,
];
/** Selects objects of the operator, because other controllers also use these kinds. */
const ours = '--selector=app.kubernetes.io/part-of=portcullis';
const patience = { deadlineMs: 150_000, everyMs: 1_000 };

/**
 * Compares the objects that kubectl lists with the operator's objects and the gateways' answers after the installation
 * has become idle. @returns one sentence for each missing or different object
 */
export async function findLost(cluster: LocalCluster, urls: readonly string[]): Promise<readonly string[]> {
  let left: readonly string[] = ['nothing was compared'];
  await until(
    'nothing is lost',
    async () => {
      left = await compare(cluster, urls);
      return left.length === 0;
    },
    patience,
  ).catch(() => undefined);
  return left;
}

async function compare(
  { server, client, gateways }: LocalCluster,
  urls: readonly string[],
): Promise<readonly string[]> {
  const listed = new Map<Kind, Stored<KubeObject>[]>();
  for (const kind of compared) {
    const selector = Object.values<Kind>(kinds).includes(kind) ? [] : [ours];
    const name = kind.group === undefined ? `${kind.plural}.portcullis.dev` : kind.plural;
    const text = await server.kubectl(`--namespace=${client.namespace}`, 'get', name, ...selector, '--output=json');
    listed.set(kind, (JSON.parse(text) as { items: Stored<KubeObject>[] }).items);
  }
  const list = (kind: Kind) => ({ items: listed.get(kind) ?? [], resourceVersion: '' });
  const reports = list(kinds.gatewayReport).items as Stored<GatewayReport>[];
  const left = [
    ...unsettled({ api: { list }, gateways: () => gateways.map(({ name }) => ({ name, serving: () => undefined })) }),
    ...reports
      .filter(({ spec }) => spec.pending.length + spec.rejected.length > 0 || !spec.ready)
      .map(({ metadata }) => `${metadata.name} has not taken every route`),
  ];
  if (left.length > 0) return left;
  const bindings = list(kinds.modelBinding).items as Stored<ModelBinding>[];
  const answers = urls.flatMap((url) => bindings.map((binding) => wrongAnswer(url, binding)));
  return (await Promise.all(answers)).filter((sentence) => sentence !== undefined);
}

/** Sends a text that the second policy denies. @returns the fault of the response, if any */
async function wrongAnswer(url: string, { metadata, spec }: Stored<ModelBinding>): Promise<string | undefined> {
  const isSide = spec.guardrail.mode === 'Policy' && spec.guardrail.policyRef.name === sidePolicy;
  if (spec.guardrail.mode === 'Policy' && !isSide) return undefined;
  const model = spec.model.alias;
  const { status, error } = await chatCall({
    url,
    key: chaosClientKey,
    model,
    content: churnDeniedWord,
    stream: false,
  });
  const wanted = spec.model.state === 'Disabled' ? 'refused' : isSide ? 'denied' : 'answered';
  const is = status === 200 ? 'answered' : error?.code === 'policy_denied' ? 'denied' : 'refused';
  return is === wanted ? undefined : `${metadata.name} is ${is} at ${url}, and must be ${wanted}`;
}
