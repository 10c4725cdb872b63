/** Why a source is refused. Codes are stable. */
export const problemCodes = [
  'too_large',
  'syntax',
  'shape',
  'expression',
  'template',
  'condition',
  'pattern',
  'schema',
  'duplicate',
  'target',
  'edge',
  'unreachable',
  'cycle',
  'region',
  'nesting',
  'reference',
  'types',
  'state',
  'tools',
  'subflow',
  'digest',
  'capability',
] as const;
export type ProblemCode = (typeof problemCodes)[number];

export type SourcePath = readonly (string | number)[];

/**
 * A problem with its place in the source. `line` and `column` start at 1; `node` is the id of the node that contains
 * the place.
 */
export type SourceProblem = {
  readonly code: ProblemCode;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly node?: string;
  readonly message: string;
};

/** A problem before its place is looked up. */
export type PlacedProblem = { readonly code: ProblemCode; readonly at: SourcePath; readonly message: string };

/** `FILE:LINE:COLUMN: node ID, PATH MESSAGE`: the form that editors and terminals turn into a link. */
export function problemLine(file: string, { line, column, node, path, message }: SourceProblem): string {
  const place = node === undefined ? '' : `node ${node}, `;
  return `${file}:${line}:${column}: ${place}${path === '' ? 'the file' : path} ${message}`;
}
