import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { type OpenedMemory, startMemory } from '../../dataplane/memory/testing/start-memory.ts';
import { type IndependentSet, readIndependentStatements } from '../memory/read-independent-statements.ts';
import type { Figure } from '../support/figure.ts';

/** The interval at which statements are used: with 4, every fourth statement is used. */
const steps = { small: 4, full: 1 } as const;
/** Upper bound of the messages of small talk that become memories. */
const mostSmallTalk = 0.02;
/** Bounds of a regression, below and above the results of the extractor without a model. */
const leastRemembered = 0.5;
const mostReturned = 0.2;
/** Upper bound of the facts that a remark ends though they still hold. */
const mostEnded = 0.02;

type Counts = {
  facts: number;
  remembered: number;
  corrected: number;
  returned: number;
  smallTalk: number;
  kept: number;
  remarks: number;
  ended: number;
  /** Texts that are stored when statements are sent again, and that no memory of the user had before. */
  again: number;
};

/** The sets in groups: all but the last were known when the rules were changed last. */
const groups: Readonly<Record<string, readonly IndependentSet[]>> = {
  'of the first sets': ['english', 'russian', 'english-unseen', 'russian-unseen', 'english-later', 'russian-later'],
  'of listed kinds': ['english-everyday', 'russian-everyday'],
  'of other kinds': ['english-unlisted', 'russian-unlisted'],
  'of everyday life': [
    ...(['english-turns', 'russian-turns', 'english-fresh', 'russian-fresh'] as const),
    ...(['english-third', 'russian-third'] as const),
  ],
  'of a set without changed rules': ['english-untuned', 'russian-untuned'],
  'of another author': ['english-other-author', 'russian-other-author'],
};

export const figure: Figure = {
  name: 'memory-statements',
  title:
    'statements in Russian and English in words that the rules were not written for, read without a model: how ' +
    'many are remembered, how many corrected ones are still returned, how many end without a reason, at most 2 % of small ' +
    'talk kept, and 0 new facts when they are sent again',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    await using memory = await startMemory(await server.createDatabase());
    const all = noCounts();
    const corrections: string[] = [];
    for (const [group, sets] of Object.entries(groups)) {
      const ofGroup = noCounts();
      for (const set of sets) {
        const counts = await judge(memory, set, steps[size], say);
        addTo(ofGroup, counts);
        say(`${set}: ${lineOf(counts)}`);
      }
      addTo(all, ofGroup);
      corrections.push(`${group} ${ofGroup.returned} of ${ofGroup.corrected}`);
    }
    const { facts, remembered, corrected, returned, smallTalk, kept, remarks, ended, again } = all;
    return {
      holds:
        remembered >= leastRemembered * facts &&
        corrected > 0 &&
        returned <= mostReturned * corrected &&
        kept <= mostSmallTalk * smallTalk &&
        ended <= mostEnded * remarks &&
        again === 0,
      line: `${lineOf(all)}; corrected facts still returned: ${corrections.join(', ')}`,
    };
  },
};

function noCounts(): Counts {
  const counts = { facts: 0, remembered: 0, corrected: 0, returned: 0 };
  return { ...counts, smallTalk: 0, kept: 0, remarks: 0, ended: 0, again: 0 };
}

function addTo(all: Counts, counts: Counts): void {
  for (const name of Object.keys(all) as (keyof Counts)[]) all[name] += counts[name];
}

async function judge(
  memory: OpenedMemory,
  set: IndependentSet,
  step: number,
  say: (line: string) => void,
): Promise<Counts> {
  const counts = noCounts();
  const { facts, corrections, smallTalk, stillSo } = readIndependentStatements(set);
  /** The memories of a user who sends these texts, with one add for each text. */
  const after = async (user: string, ...texts: readonly string[]): Promise<readonly string[]> => {
    for (const said of texts) await memory.say({ user }, said);
    return memory.all({ user });
  };
  const sendAgain = async (user: string, texts: readonly string[], known: readonly string[]): Promise<void> => {
    for (const said of texts) counts.again += (await after(user, said)).filter((text) => !known.includes(text)).length;
  };
  for (const [at, { said, kept }] of sample(facts, step)) {
    const user = `${set}-fact-${at}`;
    const found = await after(user, said);
    await sendAgain(user, [said], found);
    counts.facts += 1;
    if (found.some((text) => text.toLowerCase().includes(kept.toLowerCase()))) counts.remembered += 1;
  }
  for (const [at, { fact, correction }] of sample(corrections, step)) {
    const user = `${set}-correction-${at}`;
    const first = await after(user, fact);
    // A fact that was never remembered cannot be returned.
    if (first.length === 0) continue;
    const found = await after(user, correction);
    await sendAgain(user, [fact, correction], [...first, ...found]);
    counts.corrected += 1;
    if (!found.some((text) => first.includes(text))) continue;
    counts.returned += 1;
    say(`still returned: "${fact}" after "${correction}"`);
  }
  for (const [at, said] of sample(smallTalk, step)) {
    const user = `${set}-talk-${at}`;
    const found = await after(user, said);
    await sendAgain(user, [said], found);
    counts.smallTalk += 1;
    if (found.length > 0) counts.kept += 1;
  }
  for (const [at, { fact, remark }] of sample(stillSo, step)) {
    const user = `${set}-remark-${at}`;
    const first = await after(user, fact);
    const found = await after(user, remark);
    await sendAgain(user, [fact, remark], [...first, ...found]);
    counts.remarks += 1;
    if (first.every((text) => found.includes(text))) continue;
    counts.ended += 1;
    say(`ended without a reason: "${fact}" after "${remark}"`);
  }
  return counts;
}

function sample<T>(all: readonly T[], step: number): readonly (readonly [number, T])[] {
  return [...all.entries()].filter(([at]) => at % step === 0);
}

function lineOf({ facts, remembered, corrected, returned, smallTalk, kept, remarks, ended, again }: Counts): string {
  return (
    `${remembered} of ${facts} facts remembered; ${returned} of ${corrected} corrected facts still returned; ` +
    `${ended} of ${remarks} facts ended without a reason; ${kept} of ${smallTalk} messages of small talk kept; ` +
    `${again} new facts when sent again`
  );
}
