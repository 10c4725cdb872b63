import { model, type RelationRule } from '../../model.ts';

/**
 * The rules by which a relation follows from another relation, as columns of equal length for `unnest`: `via` is empty
 * for a relation to the same object, else it is the relation that leads to the other object.
 */
type ClosureRules = {
  readonly type: readonly string[];
  readonly relation: readonly string[];
  readonly via: readonly string[];
  readonly target: readonly string[];
};

function rowsOf(
  type: string,
  relation: string,
  rule: RelationRule,
): readonly (readonly [string, string, string, string])[] {
  return rule.also.map((one) => [type, relation, 'through' in one ? one.through : '', one.relation] as const);
}

const rows = Object.entries(model).flatMap(([type, relations]) =>
  Object.entries(relations).flatMap(([relation, rule]) => rowsOf(type, relation, rule)),
);

export const closureRules: ClosureRules = {
  type: rows.map(([type]) => type),
  relation: rows.map(([, relation]) => relation),
  via: rows.map(([, , via]) => via),
  target: rows.map(([, , , target]) => target),
};
