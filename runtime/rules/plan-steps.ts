import type { CompiledRule, SectionStep, Unit } from './compiled-section.ts';

/** A range of rules without an enforced rule that needs a provider: from index `from` up to `to`, exclusive. */
type Batch = { readonly from: number; readonly to: number; readonly local: readonly number[] };

type Asking = Pick<CompiledRule, 'mode'> & { readonly asks: boolean };

/** The places where a section waits for a provider, and the batches of rules between them. */
function splitAtQuestions(rules: readonly Asking[]): readonly (Batch | { readonly ask: number })[] {
  const parts: (Batch | { readonly ask: number })[] = [];
  let from = 0;
  let local: number[] = [];
  const closeBatch = (to: number): void => {
    if (to > from) parts.push({ from, to, local });
    local = [];
    from = to + 1;
  };
  for (const [place, rule] of rules.entries()) {
    if (rule.asks && rule.mode === 'enforce') {
      closeBatch(place);
      parts.push({ ask: place });
    } else if (!rule.asks) {
      local.push(place);
    }
  }
  closeBatch(rules.length);
  return parts;
}

/** The steps of a section: `unitsOf` returns the engine passes for the local rules of one batch. */
export function planSteps(
  rules: readonly Asking[],
  unitsOf: (batch: Batch) => readonly Unit[],
): readonly SectionStep[] {
  return splitAtQuestions(rules).map((part): SectionStep => {
    if ('ask' in part) return { kind: 'ask', place: part.ask };
    const observers = rules.flatMap((rule, place) =>
      place >= part.from && place < part.to && rule.asks ? [place] : [],
    );
    return { kind: 'batch', from: part.from, to: part.to, units: unitsOf(part), observers };
  });
}
