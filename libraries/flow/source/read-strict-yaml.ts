import { isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import { fieldPath, readShape } from '#contracts/read-shape';
import type { JsonValue } from '#kit/json/json-value';
import { findRefusedToken } from './find-refused-token.ts';
import type { PlacedProblem, ProblemCode, SourcePath, SourceProblem } from './problem.ts';

/** A source that was read: its value as written and the place of everything in it. */
type Source<T> = {
  /** The value as written, without defaults; the digest is computed from it. */
  readonly written: JsonValue;
  readonly value: T;
  locate(problem: PlacedProblem): SourceProblem;
};

type Read<T> =
  | { readonly ok: true; readonly source: Source<T> }
  | { readonly ok: false; readonly problems: readonly SourceProblem[] };

/** Reads a source in YAML or JSON strictly: no anchors, no tags, no repeated keys, nothing that JSON cannot express. */
export function readStrictYaml<S extends z.ZodType>(text: string, schema: S): Read<z.output<S>> {
  if (Buffer.byteLength(text) > flowLimits.sourceBytes) {
    return refused('too_large', `has more than ${flowLimits.sourceBytes} bytes: split it into subflows`);
  }
  const refusedToken = findRefusedToken(text);
  if (refusedToken !== undefined) return refused('syntax', refusedToken.message, text.slice(0, refusedToken.offset));
  const lines = new LineCounter();
  const document = parsed(text, lines);
  if (document === undefined) return refused('syntax', `is nested deeper than ${flowLimits.sourceDepth} levels`);
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line = 1, col = 1 } = fault.linePos?.[0] ?? {};
    // The parser's message may quote the text: its code names the fault.
    const message = `is not valid YAML (${fault.code.toLowerCase().replaceAll('_', ' ')})`;
    return { ok: false, problems: [{ code: 'syntax', line, column: col, path: '', message }] };
  }
  const locate = (found: PlacedProblem): SourceProblem => located(found, document.contents, lines);
  const strict = strictProblems(document.contents);
  if (strict.length > 0) return { ok: false, problems: strict.map(locate) };
  const written = document.toJS() as JsonValue;
  const shape = readShape(schema, written);
  if (shape.ok) return { ok: true, source: { written, value: shape.value, locate } };
  const problems = shape.problems.map(({ path, message }) =>
    locate({ code: 'shape', at: path.map((step) => (typeof step === 'symbol' ? String(step) : step)), message }),
  );
  return { ok: false, problems };
}

/** One problem, located at the end of the text `before`. */
function refused(code: ProblemCode, message: string, before = '') {
  const lines = before.split('\n');
  const place = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
  return { ok: false, problems: [{ code, ...place, path: '', message }] } as const;
}

/** The parsed document; undefined for a text that is nested deeper than the stack of the parser allows. */
function parsed(text: string, lineCounter: LineCounter) {
  try {
    return parseDocument(text, { uniqueKeys: false, lineCounter, version: '1.2', schema: 'core', merge: false });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Problems of constructs that YAML can express and JSON cannot. Repeated names are found here, because the parser would
 * compare every pair of names.
 */
function strictProblems(root: Node | null): readonly PlacedProblem[] {
  const problems: PlacedProblem[] = [];
  const report = (at: SourcePath, message: string) => void problems.push({ code: 'syntax', at, message });
  function visit(node: unknown, at: SourcePath, depth: number): undefined {
    if (depth > flowLimits.sourceDepth) return report(at, `is nested deeper than ${flowLimits.sourceDepth} levels`);
    if (isScalar(node)) {
      if (typeof node.value === 'number' && !Number.isFinite(node.value)) report(at, 'is not a finite number');
      if (typeof node.value === 'string' && !node.value.isWellFormed()) report(at, 'has half of a surrogate pair');
      if (typeof node.value === 'bigint') report(at, 'is too large a number');
    }
    if (isSeq(node)) for (const [index, item] of node.items.entries()) visit(item, [...at, index], depth + 1);
    if (!isMap(node)) return;
    const keys = new Set<string>();
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const key = isScalar(pair.key) ? pair.key.value : undefined;
      if (typeof key !== 'string') {
        report(at, 'has a key that is not a string: quote it');
        continue;
      }
      if (keys.has(key)) report([...at, key], 'has a name that an earlier member has, too');
      keys.add(key);
      if (!key.isWellFormed()) report(at, 'has a name with half of a surrogate pair');
      if (key === '__proto__') report([...at, key], 'is not allowed as a name');
      visit(pair.value, [...at, key], depth + 1);
    }
  }
  visit(root, [], 0);
  return problems;
}

/** The place of the path, or of the longest part of it that the source has. */
function located({ code, at, message }: PlacedProblem, root: Node | null, lines: LineCounter): SourceProblem {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  let id: string | undefined;
  for (const [depth, step] of at.entries()) {
    if (isMap(node)) {
      const pair = node.items.findLast((one) => isScalar(one.key) && one.key.value === step);
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      const item = node.items[step] as Node | undefined;
      if (item === undefined) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
    if (depth === 1 && at[0] === 'nodes' && isMap(node)) {
      const own = node.get('id');
      // An id in another form is text of the author, and does not appear in messages.
      if (typeof own === 'string' && /^[a-z][a-z0-9_-]{0,63}$/.test(own)) id = own;
    }
  }
  const { line, col } = lines.linePos(offset);
  const place = { line: Math.max(1, line), column: Math.max(1, col), path: fieldPath(at) };
  return { code, ...place, ...(id === undefined ? {} : { node: id }), message };
}
