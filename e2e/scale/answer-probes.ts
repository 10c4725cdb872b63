// Usage: node answer-probes.ts KUBECONFIG NAMESPACE: answers at the address of every workload as its runtime
// answers a check without messages, on a free port.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type CheckErrorCode, checkErrors } from '#contracts/checks';
import { contextHeaders } from '#contracts/profiles';
import { listenOnLoopback } from '#kit/testing/loopback';
import { createClient } from '#kube/client/client';
import { loadKubeconfig } from '#kube/client/credentials';
import { startReflector } from '#kube/watch/reflector';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { scaleToken } from './scale-token.ts';

const [file = '', namespace = ''] = process.argv.slice(2);
const client = createClient({ ...(await loadKubeconfig({ file })), namespace });
const workloads = startReflector<RuntimeWorkload>({
  client,
  kind: kinds.runtimeWorkload,
  logger: { info() {}, warn() {} },
  onChange() {},
});
await workloads.synced;

/** The gates of a runtime in their order: the token, then the digest, then the number of messages. */
function judge({ headers }: IncomingMessage): CheckErrorCode {
  const [workload = ''] = (headers.host ?? '').split('.');
  if (headers.authorization !== `Bearer ${scaleToken}`) return 'unauthenticated';
  const digest = workloads.store.get(workload)?.spec.digest;
  return digest !== undefined && headers[contextHeaders.bundleDigest] === digest
    ? 'message_limit'
    : 'policy_unavailable';
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume().on('end', () => {
    const code = judge(incoming);
    const body = JSON.stringify({ code, message: checkErrors[code].meaning, traceId: '0'.repeat(32) });
    outgoing.writeHead(checkErrors[code].status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    outgoing.end(body);
  });
}

const server = createServer({ keepAliveTimeout: 65_000 }, answer);
const listening = await listenOnLoopback(server);
console.log(JSON.stringify({ listening }));
process.on('SIGTERM', () => process.exit(0));
