import { CliError } from '../errors/cli-error.ts';
import { type Path, parsePath, readPath } from './json-path-steps.ts';

/** One part of a template: text, the values of a path, or a block that is repeated for each value of a path. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'range'; readonly path: Path; readonly parts: readonly Part[] };

/** A JSONPath template as kubectl documents it. */
export type JsonPathTemplate = { readonly parts: readonly Part[] };

/** The supported syntax, for the message that refuses other syntax. */
const supported =
  'Supported are {.a.b}, {[\'a\']}, {[0]}, {[-1]}, {[0:2]}, {[*]}, {..a}, {[?(@.a=="b")]}, {range .a[*]}…{end} and {"text"}.';

/**
 * Parses a template such as `{.items[*].metadata.name}`. A path without braces, such as `.metadata.name`, is accepted,
 * too. The evaluation supports no functions, scripts or arithmetic, so that a template can only read values.
 * @throws CliError usage that names the place of the problem
 */
export function parseJsonPath(template: string): JsonPathTemplate {
  const text = /^[.$[]/.test(template) && !template.includes('{') ? `{${template}}` : template;
  const pieces = piecesOf(text);
  const open: { readonly path: Path; readonly parts: Part[] }[] = [];
  const whole: Part[] = [];
  for (const { text: piece, isExpression, at } of pieces) {
    const parts = open.at(-1)?.parts ?? whole;
    if (!isExpression) parts.push({ kind: 'text', text: piece });
    else if (piece === 'end') {
      const block = open.pop();
      if (block === undefined) throw refused(template, at, '{end} has no {range}');
      (open.at(-1)?.parts ?? whole).push({ kind: 'range', ...block });
    } else if (/^range\s/.test(piece)) open.push({ path: pathAt(template, piece.slice(5).trim(), at), parts: [] });
    else if (/^["']/.test(piece)) parts.push({ kind: 'text', text: quotedText(template, piece, at) });
    else parts.push({ kind: 'path', path: pathAt(template, piece, at) });
  }
  if (open.length > 0) throw refused(template, template.length, '{range} has no {end}');
  return { parts: whole };
}

/** The text of a template for a value. An absent member is written as an empty text, as in kubectl. */
export function formatJsonPath({ parts }: JsonPathTemplate, root: unknown): string {
  return textOf(parts, root, root);
}

/** The values at a path such as `.metadata.name` or `{.metadata.name}`. @throws CliError usage */
export function createPathReader(expression: string): (value: unknown) => readonly unknown[] {
  const [only, ...others] = parseJsonPath(expression.startsWith('{') ? expression : `{${expression}}`).parts;
  if (only?.kind !== 'path' || others.length > 0) throw refused(expression, 0, 'one path is needed');
  return (value) => readPath(only.path, value, value);
}

function textOf(parts: readonly Part[], current: unknown, root: unknown): string {
  return parts.map((part) => partText(part, current, root)).join('');
}

function partText(part: Part, current: unknown, root: unknown): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'path':
      return readPath(part.path, current, root).map(plain).join(' ');
    case 'range':
      return readPath(part.path, current, root)
        .map((item) => textOf(part.parts, item, root))
        .join('');
  }
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

type Piece = { readonly text: string; readonly isExpression: boolean; readonly at: number };

/** Divides a template into texts and the contents of its braces; a quoted brace does not end an expression. */
function piecesOf(template: string): readonly Piece[] {
  const pattern = /\{((?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\}|([^{}]+)|([{}])/gy;
  const pieces: Piece[] = [];
  for (const found of template.matchAll(pattern)) {
    const [, expression, text, stray] = found;
    if (stray !== undefined) throw refused(template, found.index, 'a brace or a quote is not closed');
    pieces.push(
      expression === undefined
        ? { text: text ?? '', isExpression: false, at: found.index }
        : { text: expression.trim(), isExpression: true, at: found.index },
    );
  }
  return pieces;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function quotedText(template: string, piece: string, at: number): string {
  if (piece.length < 2 || piece.at(-1) !== piece[0]) throw refused(template, at, 'a quote is not closed');
  return piece.slice(1, -1).replace(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter);
}

function pathAt(template: string, text: string, at: number): Path {
  const read = parsePath(text);
  if (read.ok) return read.path;
  throw refused(template, at, `${JSON.stringify(read.rest)} is not understood`);
}

function refused(template: string, at: number, problem: string): CliError {
  return new CliError(
    'usage',
    `JSONPath, character ${at + 1} of ${JSON.stringify(template)}: ${problem}. ${supported}`,
  );
}
