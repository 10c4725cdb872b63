import type { AttributeCondition, Comparison } from '../../condition.ts';
import { equalWord, wordPattern, wordRange } from './encode-values.ts';

/** A clause of the query language of OpenSearch. */
export type Clause = Readonly<Record<string, unknown>>;

/** The clause that holds exactly for the entries that fulfil a condition. */
export function conditionFilter(condition: AttributeCondition): Clause {
  if ('and' in condition) return { bool: { filter: condition.and.map(conditionFilter) } };
  if ('or' in condition) return anyOf(condition.or.map(conditionFilter));
  if ('not' in condition) return { bool: { must_not: [conditionFilter(condition.not)] } };
  return comparisonFilter(condition);
}

/** The clause that holds if one of the clauses holds; without clauses it never holds. */
export function anyOf(clauses: readonly Clause[]): Clause {
  return clauses.length === 0 ? { match_none: {} } : { bool: { should: clauses, minimum_should_match: 1 } };
}

function comparisonFilter(comparison: Comparison): Clause {
  const { path } = comparison;
  switch (comparison.op) {
    case 'eq':
      return { term: { values: { value: equalWord(path, comparison.value) } } };
    case 'ne':
      return { bool: { must_not: [{ term: { values: { value: equalWord(path, comparison.value) } } }] } };
    case 'in':
      return { terms: { values: comparison.value.map((value) => equalWord(path, value)) } };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { range: { values: wordRange(path, comparison.op, comparison.value) } };
    case 'contains':
      return { wildcard: { values: { value: wordPattern(path, comparison.value) } } };
  }
}
