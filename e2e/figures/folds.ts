import { compareFolds, type FoldDifference, makeFoldedRule, makeFoldedText } from '../differential/compare-folds.ts';
import { createRandom } from '../streaming/random.ts';
import type { Figure } from '../support/figure.ts';

const seed = 11;
const pairs = { full: 200_000, small: 5_000 } as const;
const textsOfRule = 20;
/** Minimum percentage of pairs that match; otherwise mostly texts without a match would be compared. */
const matchingShare = 30;

export const figure: Figure = {
  name: 'folds',
  title: 'the matches of rules with folds against a plain implementation on generated rules and texts',
  run: async (size, say) => {
    const random = createRandom(seed);
    const differences: FoldDifference[] = [];
    let compared = 0;
    let matching = 0;
    let refused = 0;
    while (compared < pairs[size]) {
      const rule = makeFoldedRule(random);
      const texts = Array.from({ length: textsOfRule }, () => makeFoldedText(rule, random));
      const report = compareFolds(rule, random.pick(['request', 'response'] as const), texts);
      if (report === undefined) {
        refused += 1;
        continue;
      }
      compared += texts.length;
      matching += report.matching;
      differences.push(...report.differences);
    }
    for (const { rule, text, here, plain } of differences.slice(0, 5)) {
      say(
        `${JSON.stringify(rule)} in ${JSON.stringify(text)}: here ${here || 'no match'}, plain ${plain || 'no match'}`,
      );
    }
    const share = (100 * matching) / compared;
    const line = `${compared} pairs of rule and text, ${share.toFixed(0)} % matching, ${refused} rules refused, seed ${seed}: ${differences.length} differences`;
    return { holds: differences.length === 0 && share >= matchingShare, line };
  },
};
