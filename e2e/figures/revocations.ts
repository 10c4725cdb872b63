import { missingPostgres } from '#sql/testing/test-server';
import { revokeThroughTrouble } from '../management/measure-revocations.ts';
import { openBusyWorld } from '../management/open-busy-world.ts';
import { createRandom } from '../streaming/random.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  full: { rounds: 100, longStopMs: 24_000 },
  small: { rounds: 5, longStopMs: 21_000 },
} as const;
const seed = 20;

export const figure: Figure = {
  name: 'revocations',
  title: 'commands that take effect after the answer of a revocation, while one replica is killed or stopped',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const source = createRandom(seed);
    const random = (): number => source.below(1_000_000) / 1_000_000;
    const environment = { PORTCULLIS_REQUESTS_PER_MINUTE: '1000000', PORTCULLIS_MAX_POLICIES: '10000' };
    await using world = await openBusyWorld({ replicas: 2, environment });
    const found = await revokeThroughTrouble(world, { ...sizes[size], random });
    say(JSON.stringify({ ...found, faults: found.faults.slice(0, 10) }));
    const line =
      `${found.rounds} revocations beside ${found.kills} kills and ${found.stops} stops: ${found.accepted} commands accepted before ` +
      `them, ${found.sentAfter} sent after their answers, ${found.faults.length} faults`;
    return { holds: found.faults.length === 0, line };
  },
};
