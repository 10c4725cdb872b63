import { createCheckClient } from '#checks/client';
import { listen } from '#kit/http/listen';
import { systemClock } from '#kit/time/clock';
import { noSpans } from '#kit/trace/span';
import { type ScriptedUpstream, startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import { buildServer } from '../build-server.ts';
import { loadAgent } from '../bundle/load-agent.ts';
import { noToken } from '../confirm-requested.ts';
import { refuseFiles } from '../files/refuse-files.ts';
import { RunGrants } from '../grants/run-grants.ts';
import type { AgentServer } from '../http/agent-server.ts';
import { createHandler } from '../http/create-handler.ts';
import { createHeaderVerifier } from '../identity/call-verifier.ts';
import { RunRing } from '../monitoring/run-ring.ts';
import { createFlowPorts } from '../ports/flow-ports.ts';
import { agentBundle, questionFlow } from './agent-bundle.ts';

export type BuiltAgent = AsyncDisposable & {
  readonly url: string;
  readonly upstream: ScriptedUpstream;
  /** Codes of the runs that have ended, in order. */
  readonly codes: readonly string[];
  /** How each request ended, in order: `none` for a success, else the step and the code of its refusal. */
  readonly refusals: readonly string[];
  /** Requested identities. */
  asked(): number;
  /** Identities are verified only after this promise. */
  holdIdentities(until: Promise<void>): void;
};

/** A version with a model, whose parts a test can replace. */
export async function openBuiltAgent(replace: Partial<AgentServer> = {}): Promise<BuiltAgent> {
  await using parts = new AsyncDisposableStack();
  const upstream = parts.use(await startScriptedUpstream({ kind: 'answer', content: 'fine' }));
  const requires = [{ kind: 'model', name: 'm' } as const];
  const limits = { requestBytes: 1_048_576, timeoutMs: 60_000, concurrency: 4 };
  const load = loadAgent(
    Buffer.from(JSON.stringify(agentBundle({ flow: questionFlow('m'), bundle: { requires, limits } }))),
  );
  if (!load.ok) throw new Error('the bundle of the test was refused');
  const checks = parts.use(createCheckClient({ tokenFile: noToken }));
  const policies = { target: () => undefined, judgesWindows: () => false };
  const grants = new RunGrants();
  const none = { identity: 'development', agentGateway: undefined, retrieval: undefined, memory: undefined } as const;
  const ports = createFlowPorts({
    ...{ checks, policies, grants, files: refuseFiles, modelGatewayTokenFile: undefined },
    services: { ...none, modelGateway: new URL(upstream.url) },
  });
  const codes: string[] = [];
  const refusals: string[] = [];
  const ring = new RunRing(systemClock, (code) => void codes.push(code));
  const verifier = createHeaderVerifier();
  let gate = Promise.resolve();
  let asked = 0;
  const built = buildServer({
    ...{ agent: load.agent, checks, policies, grants, ports, files: refuseFiles, card: undefined, spans: noSpans },
    ...{ observer: ring, runs: ring, clock: systemClock, unwatchedMs: 20 },
    confirmed: new Set(['a2a.message', 'a2a.streaming', 'mcp.tool'] as const),
    mcpConfirmers: ['development:agents|ann'],
    verifier: {
      async verify(...of) {
        asked += 1;
        await gate;
        return await verifier.verify(...of);
      },
    },
  });
  const server = { ...built, ...replace };
  const handler = createHandler({
    served: () => ({ kind: 'ready', server }),
    passingProblems: () => [],
    spans: noSpans,
    onEnded: ({ code, step }) => void refusals.push(step === undefined ? code : `${step}: ${code}`),
  });
  const times = { headersTimeoutMs: 10_000, keepAliveTimeoutMs: 10_000, maxHeaderBytes: 16_384 };
  const socket = parts.use(await listen({ ...times, host: '127.0.0.1', port: 0, handler }));
  const owned = parts.move();
  return {
    url: socket.url,
    upstream,
    codes,
    refusals,
    asked: () => asked,
    holdIdentities(until) {
      gate = until;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
