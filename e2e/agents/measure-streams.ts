import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { digestOf } from '#contracts/canonical';
import { until } from '#kit/testing/until';
import type { AgentRoute } from '#resources/agent-route';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import { agentBundle, textFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { routedVersion } from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { type AgentGateway, startAgentGateway } from '../agent-gateway/start-agent-gateway.ts';
import { socketsOf, tcpConnections } from '../support/process-sockets.ts';
import { alias } from '../support/start-guarded-gateway.ts';
import { startProcess } from '../support/start-process.ts';
import { readAgentStream } from './read-agent-stream.ts';
import { type Reader, readStubStream, type StreamEnd } from './read-streams.ts';
import { stubCard } from './stub-card.ts';

type Options = {
  /** Streams of the stub at a time. */
  readonly streams: number;
  /** Streams of a real agent at a time. */
  readonly realStreams: number;
  /** Time in which all streams begin, and time for which they are then watched. */
  readonly openingMs: number;
  readonly holdMs: number;
  readonly say: (progress: string) => void;
};

type StreamsResult = {
  readonly streams: number;
  readonly realStreams: number;
  /** Streams that broke off, were mixed or were refused, by their fault. */
  readonly faults: Readonly<Record<string, number>>;
  /** Resident memory of the gateway when all streams are open, and at the end of the time, bytes. */
  readonly resident: { readonly first: number; readonly last: number };
  /** The state of the gateway a minute after the last stream. */
  readonly left: { readonly clients: number; readonly agents: number; readonly runs: number; readonly pins: number };
};

const stubId = '01890a5d-ac96-774b-bcce-b302099a8071';
/** Of ten clients, seven read events as they arrive, two read slowly, and one disconnects and begins again. */
const readers: readonly Reader[] = [...Array<Reader>(7).fill('quick'), 'slow', 'slow', 'vanishing'];
const everyMs = 1_000;
/** Time between two reads of a slow client of the real agent. */
const slowMs = 4_000;
const person = 'ann';

/**
 * Streams of the stub of an agent and of a real agent through the gateway process, all open at the same time, with slow
 * and vanishing readers; then the state of them that the gateway still holds.
 */
export async function measureStreams({
  streams,
  realStreams,
  openingMs,
  holdMs,
  say,
}: Options): Promise<StreamsResult> {
  const most = String(10_000);
  await using world = await startAgentGateway({
    PORTCULLIS_AGENT_RUNS_PER_CALLER: most,
    PORTCULLIS_AGENT_RUNS_PER_MINUTE: '1000000',
  });
  const { pid, ready } = world.platform.gateway;
  // Every stream is open until its client was observed. The stub closes idle connections early, so that none of them
  // counts as lost.
  const events = Math.ceil((openingMs + holdMs * 1.25) / everyMs);
  await using stub = await startProcess({
    file: 'e2e/agents/stub-agent-process.ts',
    args: ['v1', '', String(events), String(everyMs), '5000'],
    environment: {},
  });
  const limits = { requestBytes: 16_384, timeoutMs: 600_000, concurrency: 64 };
  const budget = { nodes: 100, modelTokens: 10_000, outputBytes: 1_000_000 };
  const routed = routedVersion(stub, {
    modes: ['A2A'],
    cardDigest: digestOf(stubCard),
    limits: { ...limits, budget },
  });
  await world.serve({ name: 'stub', agentId: stubId, served: routed.versionId, versions: [routed] });
  const real = agentBundle({
    flow: textFlow(alias),
    manifest: { executionModes: ['a2a_agent'], mcp: undefined },
    bundle: { requires: [{ kind: 'model', name: alias }], limits },
  });
  const { process: agent, ...version } = await world.startVersion(real);
  await world.serve({ name: 'real', agentId: real.agentId, served: real.versionId, versions: [version] });
  await world.allow(person, 'invoke', stubId);
  await world.allow(person, 'invoke', real.agentId);
  world.platform.upstream.play({ kind: 'answer', content: 'word '.repeat(600), frameLength: 60, frameDelayMs: 300 });

  const ends: StreamEnd[] = [];
  let sent = 0;
  let isOver = false;
  const open = new Set<number>();
  async function readStub(place: number, reader: Reader): Promise<void> {
    // Clients connect one after another, because a server accepts only a few hundred connections at the same moment.
    await pause((openingMs / 2) * (place / streams));
    do {
      sent += 1;
      const url = `${world.url}/agents/${stubId}/message:stream`;
      const token = await world.personToken(person);
      ends.push(
        await readStubStream({
          url,
          token,
          id: `run-${sent}`,
          reader,
          onOpen: () => open.add(place),
          isOver: () => isOver,
        }),
      );
    } while (reader === 'vanishing' && !isOver);
  }
  let realEnds = 0;
  const realFaults: string[] = [];
  async function readReal(reader: Reader): Promise<void> {
    const url = `${world.url}/agents/${real.agentId}`;
    do {
      const fault = await readAgentStream({ url, token: () => world.personToken(person), reader, everyMs: slowMs });
      realEnds += 1;
      if (fault !== undefined) realFaults.push(`a real agent, ${reader}: ${fault}`);
    } while (!isOver);
  }

  const all = Promise.all([
    ...Array.from({ length: streams }, (_, at) => readStub(at, readers[at % readers.length] ?? 'quick')),
    ...Array.from({ length: realStreams }, (_, at) => readReal(readers[at % readers.length] ?? 'quick')),
  ]);
  await until('all streams are open', () => open.size === streams);
  await pause(holdMs / 4);
  const first = residentOf(pid);
  say(`${streams} streams of the stub and ${realStreams} of a real agent are open: ${mib(first)} MiB`);
  await pause(holdMs);
  const last = residentOf(pid);
  isOver = true;
  await all;
  say(`${sent} streams of the stub and ${realEnds} of the real agent have ended`);

  // A version is in use while a route lists it or a call holds it.
  for (const { name, uid } of await routesOf(world)) {
    await world.platform.client.delete(kinds.agentRoute, name, { uid });
  }
  // The connections to the gateway, which the agent keeps for the next call of a model, end together with the agent.
  await agent[Symbol.asyncDispose]();
  const ports = { gateway: portOf(world.url), agents: [portOf(stub.url), portOf(agent.url)] };
  const leftNow = async (): Promise<StreamsResult['left']> => {
    const connections = tcpConnections(socketsOf(pid));
    return {
      // The socket that listens has no other end.
      clients: connections.filter(({ localPort, remotePort }) => localPort === ports.gateway && remotePort !== 0)
        .length,
      agents: connections.filter(({ remotePort }) => ports.agents.includes(remotePort)).length,
      runs: await runsInFlight(String(ready['admin'])),
      pins: await pinned(world),
    };
  };
  const isNothing = ({ clients, agents, runs, pins }: StreamsResult['left']) => clients + agents + runs + pins === 0;
  const end = performance.now() + 60_000;
  let left = await leftNow();
  while (!isNothing(left) && performance.now() < end) {
    await pause(500);
    left = await leftNow();
  }
  const faults = [
    ...ends.flatMap(({ reader, fault }) => (fault === undefined ? [] : [`${reader}: ${fault}`])),
    ...realFaults,
  ];
  const counted = Map.groupBy(faults, (fault) => fault);
  return {
    streams: sent,
    realStreams: realEnds,
    faults: Object.fromEntries([...counted].map(([fault, found]) => [fault, found.length])),
    resident: { first, last },
    left,
  };
}

function residentOf(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}

async function runsInFlight(admin: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const [, value] = /^portcullis_gateway_agent_runs_in_flight\{[^}]*\} (\d+)$/m.exec(text) ?? [];
  return Number(value);
}

async function routesOf({ platform }: AgentGateway) {
  const { items } = await platform.client.list<AgentRoute>(kinds.agentRoute);
  return items.map(({ metadata: { name, uid } }) => ({ name, uid }));
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

async function pinned({ platform }: AgentGateway): Promise<number> {
  const { items } = await platform.client.list<GatewayReport>(kinds.gatewayReport);
  return items.reduce((sum, { spec }) => sum + (spec.agents?.inUse.length ?? 0), 0);
}

const mib = (bytes: number): string => (bytes / 1_048_576).toFixed(0);
