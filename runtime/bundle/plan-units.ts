import type { CheckedText } from '../rules/checked-text.ts';
import type { Unit } from '../rules/compiled-section.ts';
import { type FoldView, foldedForm } from '../rules/fold/fold-text.ts';
import { groupPatterns } from '../rules/pattern/cost/group-patterns.ts';
import { compileGroup, type PreparedPattern } from '../rules/pattern/search/compile-group.ts';
import type { Matching } from '../rules/pattern/search/matching.ts';
import type { PassCost } from './admit.ts';
import type { LocalMatcher } from './compile-local-rule.ts';
import { foldCostMs, type LocalPass } from './local-pass.ts';

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
 * The engine passes for the local rules of one batch: one pass for each term list and for each pattern with a checksum,
 * and one pass for several other patterns if their group stays within `passMs`. A pattern above `passMs` gets no pass;
 * its estimate refuses the bundle. Rules with folds have a second pass, together with rules that have the same folds.
 */
export function planUnits(
  rules: readonly PlacedMatcher[],
  bound: { readonly maxBodyBytes: number; readonly passMs: number },
  matching: Matching,
): PlannedUnits {
  const passes = rules.flatMap((rule) => rule.matcher.passes.map((pass) => ({ rule, pass })));
  const planned = [...Map.groupBy(passes, ({ pass }) => pass.view?.key).values()].map((alike) =>
    planView(alike, bound, matching),
  );
  const listings = rules.flatMap(({ id, matcher: { listingMs } }) =>
    listingMs === undefined ? [] : [{ rules: [id], costMs: listingMs }],
  );
  return {
    units: planned.flatMap(({ units }) => units),
    costs: [...planned.flatMap(({ costs }) => costs), ...listings],
    refused: planned.flatMap(({ refused }) => refused),
  };
}

type PlacedPass = { readonly rule: PlacedMatcher; readonly pass: LocalPass };

/**
 * The passes over one folded form of the text. The cost of each pass includes folding, because the first pass that runs
 * creates the form.
 */
function planView(
  passes: readonly PlacedPass[],
  { maxBodyBytes, passMs }: { readonly maxBodyBytes: number; readonly passMs: number },
  matching: Matching,
): PlannedUnits {
  const view = passes[0]?.pass.view;
  const foldMs = foldCostMs(view, maxBodyBytes);
  const singles = passes.flatMap(({ rule, pass }) => (pass.kind === 'single' ? [{ rule, pass }] : []));
  const patterns = passes.flatMap(({ rule, pass }) => (pass.kind === 'pattern' ? [{ rule, pass }] : []));
  const { groups, refused: overBudget } = groupPatterns(
    patterns.map(({ pass }) => pass.pattern.analysis),
    { maxBytes: maxBodyBytes, budgetMs: passMs - foldMs },
    matching.figures,
  );
  const units: Unit[] = singles.map(({ rule, pass }) => singleUnit(rule, pass.test));
  const refused: { rule: string; reason: string }[] = [];
  for (const { members } of groups) {
    const group = members.flatMap((member) => patterns[member] ?? []);
    const unit = groupUnit(
      group.map(({ rule }) => rule),
      group.map(({ pass }) => pass.pattern),
      matching,
    );
    if ('reason' in unit) refused.push(...group.map(({ rule }) => ({ rule: rule.id, reason: unit.reason })));
    else units.push(unit);
  }
  const idsOf = (members: readonly number[]): string[] => members.flatMap((member) => patterns[member]?.rule.id ?? []);
  const costs: PassCost[] = [
    ...singles.map(({ rule, pass }) => ({ rules: [rule.id], costMs: pass.testMs + foldMs })),
    ...groups.map(({ members, costMs }) => ({ rules: idsOf(members), costMs: costMs + foldMs })),
    ...overBudget.map(({ member, costMs }) => ({ rules: idsOf([member]), costMs: costMs + foldMs })),
  ];
  if (view === undefined) return { units, costs, refused };
  const differs = passes.some(({ pass }) => pass.differs);
  return { units: units.map((unit) => foldedUnit(unit, { view, differs })), costs, refused };
}

/** The unit over the folded form of the text. */
function foldedUnit(unit: Unit, { view, differs }: { readonly view: FoldView; readonly differs: boolean }): Unit {
  return {
    ...unit,
    firing(text) {
      const folded = foldedForm(text, view);
      if (folded !== undefined) return unit.firing(folded.text);
      return differs ? unit.firing(text) : none;
    },
  };
}

function singleUnit({ place, timeoutMs }: PlacedMatcher, test: (text: CheckedText) => boolean): Unit {
  const places = [place];
  return { places, timeoutMs, firing: (text) => (test(text) ? places : none) };
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
  throw new RangeError('the engine reported a match of a rule that is not in its group of patterns');
}
