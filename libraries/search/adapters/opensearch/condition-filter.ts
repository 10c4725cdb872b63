import type { AttributeCondition, Comparison } from '../../condition.ts';
import type { AttributeValue } from '../../ports.ts';
import { equalWord, wordPattern, wordRange } from './encode-values.ts';

/** A clause of the query language of OpenSearch. */
export type Clause = Readonly<Record<string, unknown>>;

/** Maximum number of values of one clause. OpenSearch refuses more than index.max_terms_count, 65,536 by default. */
const mostValues = 60_000;

/** The clause that holds exactly for the entries that fulfil a condition. */
export function conditionFilter(condition: AttributeCondition): Clause {
  if ('and' in condition) return { bool: { filter: condition.and.map(conditionFilter) } };
  if ('or' in condition) return anyOf(condition.or.map(conditionFilter));
  if ('not' in condition) return { bool: { must_not: [conditionFilter(condition.not)] } };
  return comparisonFilter(condition);
}

/** A clause that is true if one of the clauses is true; without clauses it is never true. */
export function anyOf(clauses: readonly Clause[]): Clause {
  return clauses.length === 0 ? { match_none: {} } : { bool: { should: clauses, minimum_should_match: 1 } };
}

/** Clauses of which at least one is true exactly if a field has one of the values. */
export function valuesClauses(field: string, values: readonly string[], most = mostValues): readonly Clause[] {
  const clauses: Clause[] = [];
  for (let from = 0; from < values.length; from += most) {
    clauses.push({ terms: { [field]: values.slice(from, from + most) } });
  }
  return clauses;
}

function comparisonFilter(comparison: Comparison): Clause {
  const { path } = comparison;
  switch (comparison.op) {
    case 'eq':
      return { term: { values: { value: equalWord(path, comparison.value) } } };
    case 'ne':
      return { bool: { must_not: [{ term: { values: { value: equalWord(path, comparison.value) } } }] } };
    case 'in':
      return anyOf(valuesClauses('values', equalWords(path, comparison.value)));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { range: { values: wordRange(path, comparison.op, comparison.value) } };
    case 'contains':
      return { wildcard: { values: { value: wordPattern(path, comparison.value) } } };
  }
}

function equalWords(path: string, values: readonly AttributeValue[]): readonly string[] {
  return values.map((value) => equalWord(path, value));
}
