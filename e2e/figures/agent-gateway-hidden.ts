import { agentId, routedVersion, startAgentPlane } from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import type { Figure } from '../support/figure.ts';
import { guessFromTimes } from '../support/guess-from-times.ts';
import { randomFrom } from '../support/random-from.ts';

const pairs = { full: 20_000, small: 1_000 } as const;
/** Largest distance of the best guess from chance beyond that of two missing agents. */
const advantage = 0.02;
const missing = ['01890a5d-ac96-774b-bcce-b302099a8077', '01890a5d-ac96-774b-bcce-b302099a8078'] as const;
type Kind = 'hidden' | 'missing' | 'control';
type Seen = { readonly bytes: string; readonly ms: number };

export const figure: Figure = {
  name: 'agent-gateway-hidden',
  title:
    'requests of a person without rights to a hidden agent, a missing one and a second missing one, in random order: equal bytes, and times that tell hidden from missing no better than missing from missing by more than 0.02',
  async run(size, say) {
    await using world = await startAgentPlane();
    await world.serve({ versions: [routedVersion(await world.startProcess())] });
    const token = await world.personToken('bob');
    const paths: Readonly<Record<Kind, string>> = { hidden: agentId, missing: missing[0], control: missing[1] };
    const ask = async (kind: Kind): Promise<Seen> => {
      const start = performance.now();
      const answer = await world.call(`/agents/${paths[kind]}/mcp`, { token, body: '{}' });
      const text = await answer.text();
      const ms = performance.now() - start;
      const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'traceparent');
      return { bytes: JSON.stringify([answer.status, headers, text.replace(/"traceId":"[0-9a-f]+"/, '')]), ms };
    };
    const random = randomFrom(16);
    const times: Record<Kind, number[]> = { hidden: [], missing: [], control: [] };
    const bytes = new Set<string>();
    for (let at = -200; at < pairs[size]; at += 1) {
      const order: Kind[] = ['hidden', 'missing', 'control'];
      order.sort(() => random() - 0.5);
      for (const kind of order) {
        const seen = await ask(kind);
        bytes.add(seen.bytes);
        if (at >= 0) times[kind].push(seen.ms);
      }
      if (at > 0 && at % 5_000 === 0) say(`${at} pairs`);
    }
    const [found, chance] = [guessFromTimes(times.hidden, times.missing), guessFromTimes(times.control, times.missing)];
    const holds = bytes.size === 1 && Math.abs(found - 0.5) <= Math.abs(chance - 0.5) + advantage;
    return {
      holds,
      line: `${pairs[size]} pairs: ${bytes.size} distinct answers; by response time, a hidden agent is distinguished from a missing one with probability ${found.toFixed(3)}, a missing one from a missing one with ${chance.toFixed(3)}`,
    };
  },
};
