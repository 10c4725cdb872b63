import type { ErrorDetail, Parameter } from './operation.ts';

/**
 * The first parameter of the query that is unknown or repeated; undefined if there is no such parameter. An unknown
 * name counts as unknown even if it is repeated.
 */
export function problemOfNames(names: readonly string[], known: readonly Parameter<string>[]): ErrorDetail | undefined {
  const isKnown = (name: string): boolean => known.some((parameter) => parameter.name === name);
  if (!names.every(isKnown)) return { path: 'the query', message: 'has an unknown parameter' };
  const repeated = names.find((name, at) => names.indexOf(name) < at);
  return repeated === undefined ? undefined : { path: repeated, message: 'is sent more than once' };
}

/** The requirement of a parameter, as its schema describes it. */
export function problemOfValue({ name, schema }: Parameter<string>, text: string | undefined): ErrorDetail {
  return { path: name, message: text === undefined ? 'is required' : wanted(schema) };
}

function wanted(schema: Parameter<string>['schema']): string {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  if (type === 'integer' && minimum !== undefined && maximum !== undefined)
    return `must be a whole number from ${minimum} to ${maximum}`;
  if (minLength !== undefined && maxLength !== undefined) return `must have ${minLength} to ${maxLength} characters`;
  return 'is not valid';
}
