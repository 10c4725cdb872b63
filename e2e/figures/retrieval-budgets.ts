import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startRetrieval } from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { packBudgets, submitTexts } from '../retrieval-budgets/pack-budgets.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { small: { documents: 20, budgets: 60 }, full: { documents: 200, budgets: 2_000 } } as const;

export const figure: Figure = {
  name: 'retrieval-budgets',
  title:
    'contexts of random queries of all modes within random token budgets over HTTP: none exceeded, and no omitted chunk or document would still fit',
  async run(size) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { documents, budgets } = sizes[size];
    await using server = await startTestServer();
    await using service = await startRetrieval(await server.createDatabase());
    const random = randomFrom(29);
    const texts = await submitTexts(service, documents, random);
    const { exceeded, unfilled, incomplete, omitted, modes } = await packBudgets(service, texts, budgets, random);
    const isVaried = modes.full_document > 0 && modes.relevance_search > 0 && omitted > 0;
    return {
      holds: exceeded + unfilled + incomplete === 0 && isVaried,
      line:
        `${budgets} budgets over ${documents} documents, ${modes.full_document} contexts of whole documents and ` +
        `${modes.relevance_search} of chunks, ${omitted} chunks omitted: ${exceeded} exceeded, ${unfilled} in which an ` +
        `omitted one fits, ${incomplete} incomplete`,
    };
  },
};
