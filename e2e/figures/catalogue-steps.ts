import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { takeCatalogueSteps } from '../catalogue/catalogue-steps.ts';
import type { Figure } from '../support/figure.ts';

const sizes = { small: 150, full: 10_000 } as const;
const shown = 5;

export const figure: Figure = {
  name: 'catalogue-steps',
  title:
    'random grants, revocations, new, switched and removed agents, reads, walks and searches of several callers, compared with a plain model: 0 differences',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    // More agents vanish within a minute than in an installation.
    await using world = await startCatalogue(await server.createDatabase(), { config: { massRemoval: 'accept' } });
    const { differences, counts } = await takeCatalogueSteps(world, { seed: 19, steps: sizes[size], say });
    for (const difference of differences.slice(0, shown)) say(difference);
    const kinds = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
    return {
      holds: differences.length === 0,
      line: `${sizes[size]} steps (${kinds.join(', ')}): ${differences.length} forbidden, missing, repeated or skipped agents`,
    };
  },
};
