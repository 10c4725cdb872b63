import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { sha256Hex } from '#contracts/canonical';
import { fieldPath, readShape, type ShapeProblem } from '#contracts/read-shape';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import { apiVersion, type Kind, kinds } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import { findKind } from '#resources/schemas';
import { metadataProblems } from './metadata-problems.ts';

/** Largest text, bytes. */
export const maxManifestBytes = 4_194_304;
/** Most expansions of YAML aliases; prevents exponential growth. */
const maxAliases = 100;
/** Most syntax errors that are listed for one document; later ones usually follow from the first. */
const maxFaults = 10;

/** One resource as it stands in a text of YAML or JSON. */
export type Manifest = {
  /** Number of its YAML document in the text, from 1. */
  readonly document: number;
  readonly kind: Kind;
  readonly resource: Resource;
  /** SHA-256 of the text of its document, without separators and surrounding comments. */
  readonly sha256: string;
};

export type ManifestProblem = {
  /** Number of the YAML document, from 1; 0 for the text as a whole. */
  readonly document: number;
  /** Line in the text, from 1, if known. */
  readonly line?: number;
  /** Path such as `spec.model.alias`; empty for the document as a whole. */
  readonly field: string;
  readonly message: string;
};

type ManifestsResult = {
  readonly resources: readonly Manifest[];
  /** If there is any, the caller must not apply any resource of the text. */
  readonly problems: readonly ManifestProblem[];
};

type ReadOptions = {
  /** Fills in members that the writer may omit, before validation. */
  readonly complete?: (document: unknown) => unknown;
  /** Whether kinds that only Portcullis writes are accepted; refused when absent. */
  readonly internal?: 'allow';
};

/** A parsed document and the lines of its parts. */
type Source = {
  readonly document: number;
  readonly value: unknown;
  readonly text: string;
  readonly lineOf: (path: readonly PropertyKey[]) => number | undefined;
};

/**
 * Parses and validates the resources in a text of YAML 1.2 documents or one JSON document. Every problem of every document
 * is listed. Duplicate keys, unknown tags, other YAML versions and texts over 4 MiB are refused.
 */
export function readManifests(input: string | Uint8Array, options: ReadOptions = {}): ManifestsResult {
  const bytes = Buffer.from(input);
  if (bytes.length > maxManifestBytes) return refusedWhole(`the text exceeds ${maxManifestBytes} bytes`);
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) return refusedWhole('the text is not UTF-8');
  const { sources, problems } = readSources(text, bytes);
  const results = sources.map((source) => readSource(source, options));
  const resources = results.flatMap((result) => ('kind' in result ? [result] : []));
  const refused = results.flatMap((result) => ('kind' in result ? [] : result));
  return { resources, problems: [...problems, ...refused, ...duplicates(resources)].sort(byPlace) };
}

function readSources(text: string, bytes: Buffer) {
  return readJson(text, bytes) ?? readYaml(text);
}

/** The text as strict JSON, with any indentation; undefined when it is not JSON. */
function readJson(text: string, bytes: Buffer): ReturnType<typeof readYaml> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = parseStrict(bytes);
    return { sources: [{ document: 1, value, text: text.trim(), lineOf: () => undefined }], problems: [] };
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function readYaml(text: string): {
  readonly sources: readonly Source[];
  readonly problems: readonly ManifestProblem[];
} {
  const lineCounter = new LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lineCounter.linePos(offset).line);
  const sources: Source[] = [];
  const problems: ManifestProblem[] = [];
  for (const [index, parsed] of parseDocuments(text, lineCounter).entries()) {
    const number = index + 1;
    const faults = [...parsed.errors, ...parsed.warnings].slice(0, maxFaults);
    problems.push(
      ...faults.map((fault) => ({
        document: number,
        line: lineAt(fault.pos[0]),
        field: '',
        message: faultMessage(fault),
      })),
    );
    if (parsed.directives?.yaml.version !== '1.2') {
      problems.push({ document: number, field: '', message: 'the YAML version must be 1.2' });
    }
    if (faults.length > 0) continue;
    const read = toValue(parsed);
    if (!read.ok) problems.push({ document: number, field: '', message: read.message });
    else if (read.value !== null) {
      const [start, end] = parsed.contents?.range ?? parsed.range;
      const lineOf = (path: readonly PropertyKey[]) => lineOfPath(parsed, path, lineAt);
      sources.push({ document: number, value: read.value, text: text.slice(start, end).trim(), lineOf });
    }
  }
  return { sources, problems };
}

/** The library reports a stack overflow with the engine's message. */
function faultMessage(fault: { readonly message: string }): string {
  return fault.message.startsWith('Maximum call stack') ? 'the document is nested too deeply' : fault.message;
}

function parseDocuments(text: string, lineCounter: LineCounter): readonly Document.Parsed[] {
  const documents = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    strict: true,
    stringKeys: true,
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter,
  });
  return Array.isArray(documents) ? documents : [];
}

function toValue(document: Document.Parsed): { ok: true; value: unknown } | { ok: false; message: string } {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: maxAliases }) };
  } catch (error) {
    // The library throws a ReferenceError for too many aliases, the engine a RangeError for too deep a nesting.
    if (error instanceof ReferenceError) return { ok: false, message: 'the document expands too many aliases' };
    if (error instanceof RangeError) return { ok: false, message: 'the document is nested too deeply' };
    throw error;
  }
}

function lineOfPath(
  document: Document.Parsed,
  path: readonly PropertyKey[],
  lineAt: (offset: number) => number,
): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true) as { range?: readonly number[] | null } | undefined;
    const start = node?.range?.[0];
    if (start !== undefined) return lineAt(start);
  }
  return undefined;
}

function readSource(source: Source, options: ReadOptions): Manifest | readonly ManifestProblem[] {
  const value = options.complete === undefined ? source.value : options.complete(source.value);
  const found = findKind(kindName(value));
  if (found === undefined || (found.kind.internal && options.internal !== 'allow')) {
    return [problemAt(source, { path: ['kind'], message: kindMessage(found?.kind) })];
  }
  const read = readShape(found.schema, value);
  if (!read.ok) return read.problems.map((problem) => problemAt(source, problem));
  const resource = value as Resource;
  const problems = metadataProblems(resource.metadata);
  if (problems.length > 0) {
    const line = source.lineOf(['metadata']);
    return problems.map((problem) => ({
      document: source.document,
      ...(line === undefined ? {} : { line }),
      ...problem,
    }));
  }
  return { document: source.document, kind: found.kind, resource, sha256: sha256Hex(source.text) };
}

function kindName(value: unknown): string {
  const kind = (value as { readonly kind?: unknown } | null | undefined)?.kind;
  return typeof kind === 'string' ? kind : '';
}

function kindMessage(kind: Kind | undefined): string {
  if (kind !== undefined) return `a ${kind.kind} is written by Portcullis only`;
  const known = Object.values(kinds).filter((one) => !one.internal);
  return `must be one of ${known.map((one) => one.kind).join(', ')}, with apiVersion ${apiVersion}`;
}

function problemAt(source: Source, { path, message }: Pick<ShapeProblem, 'path' | 'message'>): ManifestProblem {
  const line = source.lineOf(path);
  return { document: source.document, ...(line === undefined ? {} : { line }), field: fieldPath(path), message };
}

/** A resource may appear only once in a text. */
function duplicates(resources: readonly Manifest[]): readonly ManifestProblem[] {
  const seen = new Map<string, number>();
  return resources.flatMap(({ document, kind, resource }) => {
    const key = manifestKey(kind, resource.metadata.name);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, document);
    return first === undefined
      ? []
      : [{ document, field: 'metadata.name', message: `is also the name of document ${first}` }];
  });
}

/** Identifies a resource by plural and name. */
export function manifestKey(kind: Kind, name: string): string {
  return `${kind.plural}/${name}`;
}

function byPlace(a: ManifestProblem, b: ManifestProblem): number {
  return a.document - b.document;
}

function refusedWhole(message: string): ManifestsResult {
  return { resources: [], problems: [{ document: 0, field: '', message }] };
}
