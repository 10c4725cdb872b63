import { Agent, request } from 'node:http';
import { agentId } from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { median } from '../support/median.ts';
import { startProcess } from '../support/start-process.ts';

type Options = {
  readonly rounds: number;
  /** Number of complete calls in a round through each server. */
  readonly calls: number;
  /** Number of events in the single stream of a round through each server. */
  readonly events: number;
  readonly say: (progress: string) => void;
};

type AgentSpeed = {
  /** Milliseconds that the gateway adds to a whole call, and that the bare relay adds: medians of the rounds. */
  readonly added: { readonly gateway: number; readonly relay: number };
  /** Time per event through the gateway compared with the bare relay: the median of the ratios within a round. */
  readonly perEvent: number;
};

type Server = 'direct' | 'relay' | 'gateway';

/**
 * Measures whole calls and streams of a stub of an agent: directly, through a bare relay of Node, and through the
 * gateway with identity and rights. The servers take turns within each round, one call at a time.
 */
export async function measureAgentSpeed({ rounds, calls, events, say }: Options): Promise<AgentSpeed> {
  await using parts = new AsyncDisposableStack();
  const stub = parts.use(
    await startProcess({
      file: 'e2e/agents/stub-agent-process.ts',
      args: ['v1', '', String(events), '0'],
      environment: {},
    }),
  );
  const relay = parts.use(await startProcess({ file: 'e2e/bench/bare-relay.ts', args: [stub.url], environment: {} }));
  const gateway = parts.use(
    await startProcess({ file: 'e2e/agents/agent-plane-process.ts', args: [stub.url], environment: {} }),
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  parts.defer(() => agent.destroy());
  const token = String(gateway.ready['token']);
  const origins: Readonly<Record<Server, string>> = {
    direct: stub.url,
    relay: relay.url,
    gateway: `${gateway.url}/agents/${agentId}`,
  };
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` };

  /** Milliseconds until the whole answer has arrived. */
  function timed(server: Server, path: string, least: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const begun = performance.now();
      let bytes = 0;
      const call = request(`${origins[server]}${path}`, { method: 'POST', agent, headers }, (answer) => {
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        answer.on('error', reject).on('end', () => {
          if (answer.statusCode === 200 && bytes >= least) resolve(performance.now() - begun);
          else reject(new Error(`${server} answered ${answer.statusCode} with ${bytes} bytes`));
        });
      });
      call.on('error', reject).end('{"id":"one"}');
    });
  }

  const added: Record<'gateway' | 'relay', number[]> = { gateway: [], relay: [] };
  const ratios: number[] = [];
  // The first round warms up.
  for (let round = -1; round < rounds; round += 1) {
    const times: Record<Server, number[]> = { direct: [], relay: [], gateway: [] };
    for (let at = 0; at < calls; at += 1) {
      for (const server of ['direct', 'relay', 'gateway'] as const)
        times[server].push(await timed(server, '/message:send', 1));
    }
    const stream = { relay: 0, gateway: 0 };
    const order = round % 2 === 0 ? (['relay', 'gateway'] as const) : (['gateway', 'relay'] as const);
    for (const server of order) stream[server] = await timed(server, '/message:stream', events * 30);
    if (round < 0) continue;
    const direct = median(times.direct);
    added.gateway.push(median(times.gateway) - direct);
    added.relay.push(median(times.relay) - direct);
    ratios.push(stream.gateway / stream.relay);
    say(
      `round ${round + 1}: added ${added.gateway.at(-1)?.toFixed(2)} ms, by the relay ${added.relay.at(-1)?.toFixed(2)} ms; ` +
        `per event ${((1_000 * stream.gateway) / events).toFixed(1)} µs, ratio ${ratios.at(-1)?.toFixed(2)}`,
    );
  }
  return { added: { gateway: median(added.gateway), relay: median(added.relay) }, perEvent: median(ratios) };
}
