import { hasProcessTable } from '#kit/testing/process-table';
import { missingPostgres } from '#sql/testing/test-server';
import { measureStreams } from '../agents/measure-streams.ts';
import type { Figure } from '../support/figure.ts';

/** Resident memory after the time as a multiple of that at its beginning; in a short time the heap still grows. */
const sizes = {
  full: { streams: 1_000, realStreams: 64, openingMs: 30_000, holdMs: 60_000, growth: 1.1 },
  small: { streams: 40, realStreams: 10, openingMs: 6_000, holdMs: 4_000, growth: 2 },
} as const;

export const figure: Figure = {
  name: 'agent-gateway-streams',
  title:
    'streams of a stub agent and of a real agent through the gateway process, all open at the same time for a minute, a fifth of them with slow readers and a tenth with readers that disconnect: resident memory within 10 %, no stream mixed or aborted, and no connection, run or pin left',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    if (!hasProcessTable) return { skipped: 'connections of a process are counted in /proc' };
    const { growth, ...amounts } = sizes[size];
    const { streams, realStreams, faults, resident, left } = await measureStreams({ ...amounts, say });
    const times = resident.last / resident.first;
    const isNothingLeft = Object.values(left).every((count) => count === 0);
    return {
      holds: times <= growth && isNothingLeft && Object.keys(faults).length === 0,
      line:
        `${amounts.streams} streams of the stub and ${amounts.realStreams} of a real agent at a time, ${streams} and ${realStreams} in all: ` +
        `resident memory ${times.toFixed(2)} times (at most ${growth}); faults ${JSON.stringify(faults)}; left ${JSON.stringify(left)}`,
    };
  },
};
