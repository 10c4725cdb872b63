import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { fuzzSubmits } from '../retrieval-fuzz/run-submits.ts';
import type { Figure } from '../support/figure.ts';

const submits = { small: 1_500, full: 100_000 } as const;

export const figure: Figure = {
  name: 'retrieval-submits',
  title: 'changed submit bodies against the retrieval service, each answer compared with a reference of the contract',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const seed = Number(process.env['PORTCULLIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    say(`seed ${seed}: PORTCULLIS_SEED=${seed} repeats it`);
    await using server = await startTestServer();
    await using opened = await server.createDatabase();
    const found = await fuzzSubmits(opened, { submits: submits[size], seed, say });
    for (const example of found.examples) say(example);
    const answers = [...found.answers].sort(([one], [other]) => one - other);
    return {
      holds: found.crashes + found.wrongAccepted + found.otherDifferences === 0 && found.jobs > 0,
      line:
        `${found.submits} submits (${answers.map(([status, count]) => `${status}: ${count}`).join(', ')}), ${found.jobs} ` +
        `jobs: ${found.crashes} crashes, ${found.wrongAccepted} wrong 202, ${found.otherDifferences} other differences`,
    };
  },
};
