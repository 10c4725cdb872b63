import type { Unit } from '../rules/compiled-section.ts';
import { groupPatterns } from '../rules/pattern/cost/group-patterns.ts';
import { compileGroup, type PreparedPattern } from '../rules/pattern/search/compile-group.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import type { PassCost } from './admit.ts';
import type { LocalMatcher } from './compile-local-rule.ts';

/** A local rule at its place in the section. */
export type PlacedMatcher = {
  readonly place: number;
  readonly id: string;
  readonly timeoutMs: number;
  readonly matcher: LocalMatcher;
};

type PlannedUnits = {
  readonly units: readonly Unit[];
  readonly costs: readonly PassCost[];
  /** Rules that the engine refuses in a group. */
  readonly refused: readonly { readonly rule: string; readonly reason: string }[];
};

const none: readonly number[] = [];

/**
 * The engine passes for the local rules of one batch: one per term list, and patterns together as long as their group
 * stays within `passMs`. Patterns over it get no pass; their estimate refuses the bundle.
 */
export function planUnits(
  rules: readonly PlacedMatcher[],
  bound: { readonly maxBodyBytes: number; readonly passMs: number },
  matching: Matching,
): PlannedUnits {
  const terms = rules.flatMap((rule) => (rule.matcher.kind === 'terms' ? [{ rule, matcher: rule.matcher }] : []));
  const patterns = rules.flatMap((rule) => (rule.matcher.kind === 'pattern' ? [{ rule, matcher: rule.matcher }] : []));
  const { groups, refused: overBudget } = groupPatterns(
    patterns.map(({ matcher }) => matcher.pattern.analysis),
    { maxBytes: bound.maxBodyBytes, budgetMs: bound.passMs },
    matching.figures,
  );
  const units: Unit[] = terms.map(({ rule, matcher }) => termUnit(rule, matcher.test));
  const refused: { rule: string; reason: string }[] = [];
  for (const { members } of groups) {
    const group = members.flatMap((member) => patterns[member] ?? []);
    const unit = groupUnit(
      group.map(({ rule }) => rule),
      group.map(({ matcher }) => matcher.pattern),
      matching,
    );
    if ('reason' in unit) refused.push(...group.map(({ rule }) => ({ rule: rule.id, reason: unit.reason })));
    else units.push(unit);
  }
  const idsOf = (members: readonly number[]): string[] => members.flatMap((member) => patterns[member]?.rule.id ?? []);
  const costs: PassCost[] = [
    ...terms.map(({ rule, matcher }) => ({ rules: [rule.id], costMs: matcher.testMs })),
    ...groups.map(({ members, costMs }) => ({ rules: idsOf(members), costMs })),
    ...overBudget.map(({ member, costMs }) => ({ rules: idsOf([member]), costMs })),
    ...rules.flatMap(({ id, matcher: { listingMs } }) =>
      listingMs === undefined ? [] : [{ rules: [id], costMs: listingMs }],
    ),
  ];
  return { units, costs, refused };
}

function termUnit({ place, timeoutMs }: PlacedMatcher, test: (text: Buffer) => boolean): Unit {
  const places = [place];
  return { places, timeoutMs, firing: ({ bytes }) => (test(bytes) ? places : none) };
}

function groupUnit(
  rules: readonly PlacedMatcher[],
  patterns: readonly PreparedPattern[],
  matching: Matching,
): Unit | { readonly reason: string } {
  const group = compileGroup(patterns, matching);
  if ('reason' in group) return group;
  const places = rules.map(({ place }) => place);
  return {
    places,
    timeoutMs: Math.min(...rules.map(({ timeoutMs }) => timeoutMs)),
    firing(text) {
      const members = group.firing(text);
      return members.length === 0 ? none : members.map((member) => places[member] ?? outOfGroup());
    },
  };
}

function outOfGroup(): never {
  throw new RangeError('a group of patterns reported a rule that is not a member');
}
