import { missingPostgres } from '#sql/testing/test-server';
import { measureAgentSpeed } from '../agents/measure-agent-speed.ts';
import type { Figure } from '../support/figure.ts';

const bounds = { addedMs: 1.0, perEvent: 1.3 } as const;
const sizes = {
  // A small run checks that every call is answered in full; times are meaningless while other tests run.
  small: { rounds: 2, calls: 20, events: 500, addedMs: 1_000, perEvent: 1_000 },
  full: { rounds: 15, calls: 200, events: 10_000, ...bounds },
} as const;

export const figure: Figure = {
  name: 'agent-gateway-speed',
  title: `calls and streams of a stub agent: direct, through a bare relay in Node.js, and through the gateway with tokens of people and rights in PostgreSQL, alternating in one run: the gateway adds at most ${bounds.addedMs.toFixed(1)} ms at the median, and takes at most ${bounds.perEvent} times the relay per event`,
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { addedMs, perEvent: mostPerEvent, ...amounts } = sizes[size];
    const { added, perEvent } = await measureAgentSpeed({ ...amounts, say });
    return {
      holds: added.gateway <= addedMs && perEvent <= mostPerEvent,
      line:
        `${amounts.rounds} rounds of ${amounts.calls} calls and a stream of ${amounts.events} events: the gateway adds ` +
        `${added.gateway.toFixed(2)} ms to a call, the relay ${added.relay.toFixed(2)} ms; per event ${perEvent.toFixed(2)} times the relay`,
    };
  },
};
