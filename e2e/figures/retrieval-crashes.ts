import { missingPostgres } from '#sql/testing/test-server';
import { openCrashWorld } from '../retrieval-crashes/crash-world.ts';
import { churnDocuments, killAtSteps, replayFailed } from '../retrieval-crashes/run-crashes.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  small: { submits: 300, documents: 40, kills: 12, stops: 4, pauseMs: 300 },
  full: { submits: 5_000, documents: 400, kills: 200, stops: 100, pauseMs: 1_600 },
} as const;

export const figure: Figure = {
  name: 'retrieval-crashes',
  title:
    'kills at every step, stops past the lease, lost commits: no document is lost, repeated or older than its newest submit',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using world = await openCrashWorld();
    const submits = { next: 0, accepted: new Map<number, string>() };
    const steps = await killAtSteps(world, submits, say);
    const random = await churnDocuments(world, submits, sizes[size], say);
    const replayed = await replayFailed(world, submits);
    const faults = [...steps.faults, ...random.faults, ...replayed.faults];
    for (const fault of faults.slice(0, 10)) say(fault);
    return {
      holds: faults.length === 0 && submits.accepted.size === submits.next,
      line:
        `${submits.next} submits, ${submits.accepted.size} accepted; ${steps.kills} kills at named steps, ` +
        `${random.kills} random kills, ${random.stops} stops past the lease, ${random.lostCommits} lost commits, ` +
        `${random.reindexes} reindexes, ${random.deadLetters} dead letters and ${replayed.replays} FAILED jobs replayed: ` +
        `${faults.length} faults`,
    };
  },
};
