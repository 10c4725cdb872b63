import { checkedText } from '../../runtime/rules/checked-text.ts';
import { groupPatterns } from '../../runtime/rules/pattern/cost/group-patterns.ts';
import { workedOut } from '../../runtime/rules/pattern/cost/pattern-figures.ts';
import { compileGroup } from '../../runtime/rules/pattern/search/compile-group.ts';
import { openSet } from '../../runtime/rules/pattern/search/engine.ts';
import { prepare } from '../../runtime/rules/pattern/testing/prepare-pattern.ts';
import { fastestMs } from './fastest.ts';
import { problemsOf } from './judge-process.ts';
import { bundleAt, exampleTimeoutMs, patternPolicy } from './policies.ts';
import { lookedThrough, repeated, shuffled } from './texts.ts';

const maxBodyBytes = 32_768;

type GapReport = {
  readonly groups: number;
  /**
   * Milliseconds for the slowest text: with all patterns in one set, with all groups together, and in the slowest
   * group.
   */
  readonly oneSet: number;
  readonly together: number;
  readonly slowest: number;
  readonly problems: readonly string[];
};

/** Compares forty rules with a bounded gap in one set with the same rules in the groups in which they are admitted. */
export async function judgeGapGroups(texts: number): Promise<GapReport> {
  const patterns = Array.from({ length: 40 }, (_, index) => `ignore.{0,60}system${index}x`);
  const rules = patterns.map((pattern) => ({ pattern, caseSensitive: true }));
  const problems = await problemsOf(bundleAt([patternPolicy('gaps', rules, exampleTimeoutMs)], maxBodyBytes));
  const prepared = patterns.map((pattern) => prepare(pattern));
  const { groups } = groupPatterns(
    prepared.map(({ analysis }) => analysis),
    { maxBytes: maxBodyBytes, budgetMs: exampleTimeoutMs / 4 },
    workedOut,
  );
  const set = openSet(patterns);
  if ('refused' in set) throw new Error(set.refused);
  const mixed = Array.from({ length: texts }, (_, seed) =>
    Buffer.from(shuffled(['ignore', 'a', 'bc', 'def'], seed + 1, maxBodyBytes)),
  );
  const oneSet = fastestMs(texts, (run) => set.firing(mixed[run] ?? Buffer.alloc(0)));
  const worst = [
    ...mixed.map((text) => Buffer.from(lookedThrough(text.toString(), maxBodyBytes))),
    Buffer.from(repeated('ignore', maxBodyBytes)),
  ];
  const times = groups.map(({ members }) => {
    const group = compileGroup(members.flatMap((member) => prepared[member] ?? []));
    if ('reason' in group) throw new Error(group.reason);
    return Math.max(...worst.map((text) => fastestMs(texts, () => group.firing(checkedText(text)))));
  });
  const together = times.reduce((sum, time) => sum + time, 0);
  return { groups: groups.length, oneSet, together, slowest: Math.max(...times), problems };
}
