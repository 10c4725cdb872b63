import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { sha256Hex } from '#contracts/canonical';
import { fieldPath, readShape, type ShapeProblem } from '#contracts/read-shape';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import { nearestWord } from '#kit/text/nearest-word';
import { apiVersion, type Kind, kinds } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import { findKind } from '#resources/schemas';
import { metadataProblems } from './metadata-problems.ts';
import { type Place, placeAt, placeOfPath } from './place-in-yaml.ts';
import { shapeMessages, withFound } from './shape-message.ts';
import { unresolvedAlias, yamlFaults } from './yaml-fault.ts';

/** Largest text, bytes. */
export const maxManifestBytes = 4_194_304;
/** Maximum number of expansions of YAML aliases; prevents exponential growth. */
const maxAliases = 100;
/** Maximum number of syntax errors that are listed for one document. */
const maxFaults = 10;

/** One resource in a text of YAML or JSON. */
export type Manifest = {
  /** Number of its YAML document in the text, from 1. */
  readonly document: number;
  readonly kind: Kind;
  readonly resource: Resource;
  /** SHA-256 of the text of its document, without separators and surrounding comments. */
  readonly sha256: string;
  /** The place of a field in the text. */
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
};

export type ManifestProblem = {
  /** Number of the YAML document, from 1; 0 for the text as a whole. */
  readonly document: number;
  /** Line in the text, from 1, if known. */
  readonly line?: number;
  /** Column in the line, from 1, if the line is known. */
  readonly column?: number;
  /** Path such as `spec.model.alias`; empty for the document as a whole. */
  readonly field: string;
  readonly message: string;
};

type ManifestsResult = {
  readonly resources: readonly Manifest[];
  /** Problems of the text. If there is any, the caller must not apply any resource of the text. */
  readonly problems: readonly ManifestProblem[];
};

type ReadOptions = {
  /** Fills in members that the writer may omit, before validation. */
  readonly complete?: (document: unknown) => unknown;
  /** Whether kinds that only Portcullis writes are accepted; refused when absent. */
  readonly internal?: 'allow';
  /** Whether problems repeat short words and numbers of the text: allowed in output for its writer, never in a log. */
  readonly repeat?: 'found';
};

/** A parsed document and the places of its parts. */
type Source = {
  readonly document: number;
  readonly value: unknown;
  readonly text: string;
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
};

/**
 * Parses and validates the resources in a text of YAML 1.2 documents or one JSON document. Every problem of every document
 * is listed. Duplicate keys, unknown tags, other YAML versions and texts over 4 MiB are refused.
 */
export function readManifests(input: string | Uint8Array, options: ReadOptions = {}): ManifestsResult {
  const bytes = Buffer.from(input);
  if (bytes.length > maxManifestBytes)
    return refusedWhole(`the text exceeds ${maxManifestBytes} bytes: divide it into several files`);
  const text = bytes.toString('utf8');
  // UTF-16 without a mark is valid UTF-8 with a NUL after each letter.
  if (!Buffer.from(text).equals(bytes) || text.includes('\0'))
    return refusedWhole('the text is not UTF-8: save it in this encoding');
  const { sources, problems } = readSources(text, bytes);
  const results = sources.map((source) => readSource(source, options));
  const resources = results.flatMap((result) => ('kind' in result ? [result] : []));
  const refused = results.flatMap((result) => ('kind' in result ? [] : result));
  return { resources, problems: [...problems, ...refused, ...duplicates(resources)].sort(byPlace) };
}

function readSources(text: string, bytes: Buffer) {
  return readJson(text, bytes) ?? readYaml(text);
}

/** The text as strict JSON, with any indentation; undefined if the text is not JSON. */
function readJson(text: string, bytes: Buffer): ReturnType<typeof readYaml> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = parseStrict(bytes);
    return { sources: [{ document: 1, value, text: text.trim(), placeOf: placesInJson(text) }], problems: [] };
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/**
 * JSON is valid YAML, so the YAML parser finds places in it; it parses the text once, and only if there is a problem.
 */
function placesInJson(text: string): Source['placeOf'] {
  const lineCounter = new LineCounter();
  let documents: readonly Document.Parsed[] | undefined;
  return (path) => {
    documents ??= parseDocuments(text, lineCounter);
    const [document] = documents;
    return document === undefined ? {} : placeOfPath(document, path, lineCounter);
  };
}

function readYaml(text: string): {
  readonly sources: readonly Source[];
  readonly problems: readonly ManifestProblem[];
} {
  const lineCounter = new LineCounter();
  const sources: Source[] = [];
  const problems: ManifestProblem[] = [];
  for (const [index, parsed] of parseDocuments(text, lineCounter).entries()) {
    const number = index + 1;
    const faults = yamlFaults(parsed, maxFaults, lineCounter);
    problems.push(
      ...faults.map(({ offset, message }) => ({
        document: number,
        ...placeAt(offset, lineCounter),
        field: '',
        message,
      })),
    );
    if (parsed.directives?.yaml.version !== '1.2') {
      problems.push({ document: number, field: '', message: 'the YAML version must be 1.2' });
    }
    if (faults.length > 0) continue;
    const read = toValue(parsed);
    if (!read.ok) {
      const place = read.offset === undefined ? {} : placeAt(read.offset, lineCounter);
      problems.push({ document: number, ...place, field: '', message: read.message });
    } else if (read.value !== null) {
      const [start, end] = parsed.contents?.range ?? parsed.range;
      const placeOf = (path: readonly PropertyKey[]): Place => placeOfPath(parsed, path, lineCounter);
      sources.push({ document: number, value: read.value, text: text.slice(start, end).trim(), placeOf });
    }
  }
  return { sources, problems };
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

type DocumentValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly offset?: number; readonly message: string };

function toValue(document: Document.Parsed): DocumentValue {
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: maxAliases }) };
  } catch (error) {
    // The library throws a ReferenceError for too many aliases, and the engine a RangeError for too deep nesting.
    if (error instanceof ReferenceError) {
      const offset = error.message.startsWith('Unresolved alias') ? unresolvedAlias(document) : undefined;
      if (offset === undefined) return { ok: false, message: 'the document expands too many aliases' };
      return { ok: false, offset, message: 'an alias names no anchor above it: quote a text that begins with *' };
    }
    if (error instanceof RangeError) return { ok: false, message: 'the document is nested too deeply' };
    throw error;
  }
}

function readSource(source: Source, options: ReadOptions): Manifest | readonly ManifestProblem[] {
  const value = options.complete === undefined ? source.value : options.complete(source.value);
  const found = findKind(kindName(value));
  if (found === undefined || (found.kind.internal && options.internal !== 'allow')) {
    const word = kindName(value);
    const message = kindMessage(word, found?.kind);
    const told = options.repeat === 'found' && word !== '' ? withFound(message, word) : message;
    return [problemAt(source, { path: ['kind'], message: told })];
  }
  const read = readShape(found.schema, value);
  if (!read.ok) {
    const { placeOf } = source;
    return shapeMessages(read.problems, { value, placeOf, repeat: options.repeat }).map((problem) =>
      problemAt(source, problem),
    );
  }
  const resource = value as Resource;
  const problems = metadataProblems(resource.metadata);
  if (problems.length > 0) {
    const place = source.placeOf(['metadata']);
    return problems.map((problem) => ({ document: source.document, ...place, ...problem }));
  }
  return {
    document: source.document,
    kind: found.kind,
    resource,
    sha256: sha256Hex(source.text),
    placeOf: source.placeOf,
  };
}

function kindName(value: unknown): string {
  const kind = (value as { readonly kind?: unknown } | null | undefined)?.kind;
  return typeof kind === 'string' ? kind : '';
}

function kindMessage(word: string, kind: Kind | undefined): string {
  const known = Object.values(kinds)
    .filter((one) => !one.internal)
    .map((one) => one.kind);
  if (kind !== undefined) {
    return `cannot be ${kind.kind}, which is written by Portcullis only: it must be one of ${known.join(', ')}`;
  }
  const nearest = nearestWord(word, known);
  const meant = nearest === undefined ? '' : `: did you mean ${nearest}?`;
  const absent = word === '' ? 'is required and ' : '';
  return `${absent}must be one of ${known.join(', ')} of apiVersion ${apiVersion}${meant}`;
}

function problemAt(source: Source, { path, message }: Pick<ShapeProblem, 'path' | 'message'>): ManifestProblem {
  return { document: source.document, ...source.placeOf(path), field: fieldPath(path), message };
}

/** A resource may appear only once in a text. */
function duplicates(resources: readonly Manifest[]): readonly ManifestProblem[] {
  const seen = new Map<string, Manifest>();
  return resources.flatMap((manifest) => {
    const { document, kind, resource, placeOf } = manifest;
    const key = manifestKey(kind, resource.metadata.name);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, manifest);
    return first === undefined
      ? []
      : [
          {
            document,
            ...placeOf(['metadata', 'name']),
            field: 'metadata.name',
            message: `is also the name of document ${first.document}${onLine(first)}: give one of the two another name, or remove one`,
          },
        ];
  });
}

function onLine({ placeOf }: Manifest): string {
  const { line } = placeOf(['metadata', 'name']);
  return line === undefined ? '' : ` (line ${line})`;
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
