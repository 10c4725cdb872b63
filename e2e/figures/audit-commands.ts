import { missingPostgres } from '#sql/testing/test-server';
import { judgeAudit } from '../management/judge-audit.ts';
import { commandThroughCrashes } from '../management/measure-crashes.ts';
import { openBusyWorld } from '../management/open-busy-world.ts';
import { createRandom } from '../streaming/random.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  full: { commands: 1_500, longStopMs: 24_000, leastKills: 180 },
  small: { commands: 60, longStopMs: 3_000, leastKills: 6 },
} as const;
const seed = 19;

export const figure: Figure = {
  name: 'audit-commands',
  title: 'the audit log of random commands through kills and stops of two replicas, compared with the commands',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { commands, longStopMs, leastKills } = sizes[size];
    const source = createRandom(seed);
    const random = (): number => source.below(1_000_000) / 1_000_000;
    await using world = await openBusyWorld({ replicas: 2 });
    const crashed = await commandThroughCrashes(world, { commands, workers: 8, longStopMs, leastKills, random });
    say(`${crashed.commands} commands, ${crashed.kills} kills, ${crashed.stops} stops, ${crashed.accepted} accepted`);
    const audit = await judgeAudit(world.api, crashed.operations);
    const faults = [...crashed.faults, ...audit.faults];
    say(JSON.stringify({ ...audit, faults: faults.slice(0, 10) }));
    const line =
      `${crashed.commands} commands through ${crashed.kills} kills and ${crashed.stops} stops: ${crashed.accepted} accepted, ` +
      `${audit.entries} entries in one chain, ${faults.length} faults`;
    return { holds: faults.length === 0 && crashed.kills >= leastKills, line };
  },
};
