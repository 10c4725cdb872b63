import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import type { Database } from '#sql/connect';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { takeCatalogueSteps } from '../catalogue/catalogue-steps.ts';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import type { Figure } from '../support/figure.ts';
import { hashedWords } from '../support/hashed-words.ts';

const sizes = { small: 100, full: 10_000 } as const;
const shown = 5;
/**
 * A value below the number of relations of some persons, so that a part of the callers is answered by checks in
 * batches.
 */
const fewReached = 12;
/**
 * A number so large that the names of a full run hardly share a dimension: two agents are near to each other if their
 * names share a word.
 */
const dimension = 4_096;

export const figure: Figure = {
  name: 'catalogue-steps',
  title:
    'random grants, revocations, nested groups and the group of every caller, new, switched and removed agents over A2A and MCP, reads, filtered walks, searches by words and hybrid ones of people and of agents for them, compared with a plain model, with rights in PostgreSQL, in OpenFGA, and in OpenFGA with a bound that some callers exceed: 0 differences',
  async run(size, say) {
    const missing = missingPostgres ?? missingOpenFga;
    if (missing !== undefined) return { skipped: missing };
    using folder = temporaryFolder();
    const modelsFile = join(folder.path, 'models.yaml');
    writeFileSync(modelsFile, JSON.stringify({ embedding: [{ id: 'words', model: 'words', dimension }] }));
    await using server = await startTestServer();
    await using openFga = await startOpenFga();
    const inOpenFga = (mostReached?: number) => async (database: Database) =>
      await openOpenFgaRelations({
        url: openFga.url,
        storeName: `steps ${mostReached ?? 'all'}`,
        stores: await openStoreRegistry(database),
        ...(mostReached === undefined ? {} : { mostReached }),
      });
    const stores = [
      { name: 'PostgreSQL', rights: {} },
      { name: 'OpenFGA', rights: { openRights: inOpenFga() } },
      { name: 'OpenFGA in batches', rights: { openRights: inOpenFga(fewReached) } },
    ];
    const lines: string[] = [];
    let sum = 0;
    let isAnswered = true;
    for (const { name, rights } of stores) {
      // In this test more agents disappear within a minute than in an installation.
      await using world = await startCatalogue(await server.createDatabase(), {
        config: { massRemoval: 'accept', embeddingProfile: 'words', modelsFile },
        overrides: { models: hashedWords() },
        ...rights,
      });
      const { differences, counts, found } = await takeCatalogueSteps(world, { seed: 19, steps: sizes[size], say });
      for (const difference of differences.slice(0, shown)) say(`${name}: ${difference}`);
      const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
      const inAnswers = Object.entries(found).map(([caller, count]) => `${count} to ${caller}`);
      lines.push(`${name}: ${sizes[size]} steps (${kinds.join(', ')}), agents in answers: ${inAnswers.join(', ')}`);
      sum += differences.length;
      isAnswered &&= Object.values(found).every((count) => count > 0);
    }
    return {
      holds: sum === 0 && isAnswered,
      line: `${lines.join('; ')}: ${sum} forbidden, missing, repeated or skipped agents`,
    };
  },
};
