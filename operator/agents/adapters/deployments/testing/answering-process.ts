import { createServer } from 'node:http';
import type { AgentBundle } from '#contracts/agent-bundle';
import type { AgentState } from '#contracts/agent-state';
import { digestOf } from '#contracts/canonical';
import { listenOnLoopback } from '#kit/testing/loopback';
import { isSdkBundle, type VersionBundle } from '../../../agent-bundle.ts';
import type { ReachPod } from '../agent-looks.ts';

/** One server that answers as the process of every pod. */
type AnsweringProcess = AsyncDisposable & {
  readonly reach: ReachPod;
  /** Answers for the pod at this address as the process of a bundle. */
  run(ip: string, bundle: VersionBundle): void;
  end(ip: string): void;
  /** Sets the JSON that processes of images answer, by path; every other path is unavailable. */
  serve(paths: Readonly<Record<string, unknown>>): void;
  /** Changes the answers of all processes. */
  answer(change: Partial<AgentState>): void;
};

export async function startAnsweringProcess(): Promise<AnsweringProcess> {
  const running = new Map<string, VersionBundle>();
  let served: Readonly<Record<string, unknown>> = {};
  let change: Partial<AgentState> = {};
  const server = createServer((incoming, outgoing) => {
    const [, ip = '', path = ''] = /^\/([^/]+)(\/.+)$/.exec(incoming.url ?? '') ?? [];
    const bundle = running.get(ip);
    if (bundle === undefined) return void outgoing.destroy();
    outgoing.setHeader('content-type', 'application/json');
    if (isSdkBundle(bundle)) {
      outgoing.statusCode = served[path] === undefined ? 503 : 200;
      return void outgoing.end(JSON.stringify(served[path] ?? {}));
    }
    const card = { name: 'hello', supportedInterfaces: [{ url: `${bundle.publicUrl}/a2a` }] };
    outgoing.end(JSON.stringify(path === '/state' ? { ...stateOf(bundle, digestOf(card)), ...change } : card));
  });
  const url = await listenOnLoopback(server);
  return {
    reach: (ip) => ({ traffic: `${url}/${ip}`, admin: `${url}/${ip}` }),
    run: (ip, bundle) => void running.set(ip, bundle),
    end: (ip) => void running.delete(ip),
    serve(paths) {
      served = paths;
    },
    answer(next) {
      change = { ...change, ...next };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function stateOf({ agentId, versionId, digest }: AgentBundle, cardDigest: string): AgentState {
  const own = { agentId, versionId, digest, build: '1', cardDigest };
  return { ...own, ready: true, problems: [], capabilities: {}, runs: 0 };
}
