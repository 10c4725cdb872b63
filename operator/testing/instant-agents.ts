import type { AgentState } from '#contracts/agent-state';
import { isSdkBundle } from '../agents/agent-bundle.ts';
import type { AgentHost, AgentObservation, AgentRequest } from '../agents/ports.ts';

type InstantAgents = AgentHost & {
  /** The desired workloads, by name. */
  readonly running: ReadonlyMap<string, AgentRequest>;
  /** Changes the observation of a workload. */
  report(name: string, change: Partial<AgentState>, card?: AgentObservation['card']): void;
  /** The process of a workload restarts at another address. */
  move(name: string, address: string): void;
};

const cardDigest = 'c'.repeat(64);
const unobserved: AgentObservation = { state: undefined, card: 'unread', problem: undefined };

/** Agents without processes: ready a moment after they were requested. */
export function createInstantAgents(build = 'test-1', { runsImages = true } = {}): InstantAgents {
  const running = new Map<string, AgentRequest>();
  const observed = new Map<string, AgentObservation>();
  const addresses = new Map<string, string>();
  let listener: (resource: string) => void = () => undefined;

  function report(name: string, change: Partial<AgentState>, card?: AgentObservation['card']): void {
    const request = running.get(name);
    if (request === undefined) return;
    const { bundle } = request;
    const { agentId, versionId, digest } = bundle;
    const shown = isSdkBundle(bundle) ? bundle.cardDigest : cardDigest;
    const state: AgentState = {
      ...{ agentId, versionId, digest, build, ready: true, problems: [], capabilities: {}, runs: 0 },
      ...(shown === undefined ? {} : { cardDigest: shown }),
      ...change,
    };
    observed.set(name, {
      state,
      card: card ?? (shown === undefined ? 'none' : 'verified'),
      problem: undefined,
      address: addresses.get(name) ?? '',
    });
    listener(request.resource);
  }

  return {
    running,
    report,
    move(name, address) {
      addresses.set(name, address);
      report(name, {});
    },
    build,
    publicUrl: new URL('https://agents.example'),
    runsImages,
    ensure(request) {
      running.set(request.name, request);
      addresses.set(request.name, `http://127.0.0.1:${40_000 + addresses.size}`);
      setImmediate(() => report(request.name, {}));
    },
    observe: (name) => (running.has(name) ? (observed.get(name) ?? unobserved) : undefined),
    remove(name) {
      running.delete(name);
      observed.delete(name);
    },
    has: (name) => running.has(name),
    runs: (name) => running.has(name),
    requestOf: (name) => running.get(name),
    onChange(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      running.clear();
    },
  };
}
