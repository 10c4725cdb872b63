import { type Rule, rulesInOrder, type Section, type Sections, type Stage } from './policy.ts';

/** A section as the runtime runs it: the shared rules of the definition before its own baseline. */
export function effectiveSection(definition: Sections, stage: Stage): Section {
  const section = definition[stage];
  return definition.shared === undefined
    ? section
    : { ...section, baseline: [...definition.shared, ...section.baseline] };
}

/** The rules of both sections; a rule that both sections share is listed once. */
export function rulesOfDefinition(definition: Sections): readonly Rule[] {
  return [...(definition.shared ?? []), ...rulesInOrder(definition.request), ...rulesInOrder(definition.response)];
}
