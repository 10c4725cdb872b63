import { missingPostgres } from '#sql/testing/test-server';
import { crashCatalogue } from '../catalogue/crash-catalogue.ts';
import { startEndingNats, startEndingWebhook } from '../catalogue/event-receivers.ts';
import { natsProgram } from '../retrieval/nats-server.ts';
import type { Figure } from '../support/figure.ts';

/** Kills with each receiver. */
const sizes = {
  small: { nats: 4, webhook: 0 },
  full: { nats: 120, webhook: 80 },
} as const;
const receivers = { nats: startEndingNats, webhook: startEndingWebhook } as const;
const shown = 5;

export const figure: Figure = {
  name: 'catalogue-crashes',
  title:
    'API, worker with its relay, database and receiver are killed in turn while agents pass through their states, and ' +
    'commits lose their answers: every event of every agent is received in its order, repeated ones have the same id ' +
    'and content, and no answer misses an agent',
  async run(size, say) {
    const missing = missingPostgres ?? natsProgram.missing;
    if (missing !== undefined) return { skipped: missing };
    const lines: string[] = [];
    let holds = true;
    for (const name of ['nats', 'webhook'] as const) {
      const kills = sizes[size][name];
      if (kills === 0) continue;
      await using receiver = await receivers[name]();
      const found = await crashCatalogue(receiver, kills, say);
      for (const fault of found.faults.slice(0, shown)) say(fault);
      holds &&= found.faults.length === 0 && found.agents > 0 && found.answers > 0;
      lines.push(
        `${name}: ${kills} kills, ${found.lostCommits} lost commits, ${found.agents} agents with ${found.events} ` +
          `events, ${found.repeated} repeated, ${found.answers} complete answers, ${found.faults.length} faults`,
      );
    }
    return { holds, line: lines.join('; ') };
  },
};
