import { missingPostgres } from '#sql/testing/test-server';
import { openMemoryCrashes } from '../memory-crashes/memory-world.ts';
import { churnAdds, killMemoryAtSteps } from '../memory-crashes/run-crashes.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  small: { adds: 60, persons: 10, kills: 6 },
  full: { adds: 2_000, persons: 40, kills: 200 },
} as const;

/** Maximum number of adds under random kills that may be FAILED, because their workers were killed five times. */
const mostFailed = 0.01;

export const figure: Figure = {
  name: 'memory-crashes',
  title:
    'API, workers and PostgreSQL are killed at every step and at random under adds, commits lose their answers: every ' +
    'event reaches an end, no memory is lost or stored twice, no search is incomplete',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using world = await openMemoryCrashes();
    const accepted = new Map<string, Set<string>>();
    const steps = await killMemoryAtSteps(world, accepted);
    say(`${steps.kills} kills at named steps: ${steps.faults.length} faults`);
    const random = await churnAdds(world, accepted, sizes[size], say);
    const faults = [...steps.faults, ...random.faults];
    for (const fault of faults.slice(0, 10)) say(fault);
    const kills = Object.entries(random.kills).map(([part, count]) => `${part} ${count}`);
    return {
      holds:
        faults.length + random.incomplete === 0 &&
        random.answers > 0 &&
        random.failed <= Math.max(1, mostFailed * sizes[size].adds),
      line:
        `${accepted.size} adds; ${steps.kills} kills at named steps, ${sizes[size].kills} random kills ` +
        `(${kills.join(', ')}), ${random.lostCommits} lost commits: ${faults.length} faults, ` +
        `${steps.failed + random.failed} events FAILED because of five kills; ${random.answers} answers of searches, ` +
        `${random.incomplete} incomplete`,
    };
  },
};
