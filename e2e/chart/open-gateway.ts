import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { type ChatCall, type ChatResult, chatCall } from '../support/chat-call.ts';
import { forwardPort } from './forward-port.ts';

/** A client for a release's gateway, with the first key of the gateway and a forwarded port. */
type ClusterGateway = AsyncDisposable & {
  ask(content: string, more?: Partial<ChatCall>): Promise<ChatResult>;
};

/** Follows the notes of the chart: reads the key from the Secret and forwards a port to the gateway. */
export async function openGateway(
  { kubeconfigFile, namespace }: { readonly kubeconfigFile: string; readonly namespace: string },
  release: string,
): Promise<ClusterGateway> {
  const secret = ['get', 'secret', `${release}-client-keys`, '--output=jsonpath={.data.clients}'];
  const clients = Buffer.from(await kubectlOk(kubeconfigFile, [`--namespace=${namespace}`, ...secret]), 'base64');
  const [key = ''] = clients.toString().split(' ');
  const forward = await forwardPort(kubeconfigFile, namespace, `service/${release}-gateway`, 80);
  return {
    ask: (content, more = {}) =>
      chatCall({ url: forward.url, key, model: 'guarded-echo', content, stream: false, ...more }),
    [Symbol.asyncDispose]: () => forward[Symbol.asyncDispose](),
  };
}
