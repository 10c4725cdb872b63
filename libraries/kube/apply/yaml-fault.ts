import { type Document, type ErrorCode, isCollection, isScalar, type LineCounter, visit } from 'yaml';

type Fault = { readonly code: ErrorCode; readonly message: string; readonly pos: readonly [number, number] };

/** A fault of a YAML document as a sentence without text of the document, and the offset of its place. */
type PlacedFault = { readonly offset: number; readonly message: string };

const otherwise =
  'is not valid YAML here: check the indentation, the quotes and the brackets of this line and the one above';

const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  TAB_AS_INDENT: 'the indentation has a tab: replace it with spaces',
  BAD_INDENT: 'the indentation is wrong: align the line with the others of its list or map',
  DUPLICATE_KEY: 'the map has this key already: remove one of the two',
  MISSING_CHAR: 'a character is missing: check for ": " after a key, "- " before an entry, and a comma between entries',
  MULTILINE_IMPLICIT_KEY: 'a key goes over more than one line: check its indentation and its quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a map or list begins in the middle of a line: check the indentation, or quote the text',
  BLOCK_IN_FLOW: 'the brackets contain lines of a list or map: separate the entries with commas',
  NON_STRING_KEY:
    'a text that begins with { or [ is read as a map or a list: put the whole text in quotes, or render the template first',
  UNEXPECTED_TOKEN: 'a character is not expected here: check the commas, brackets and quotes of the line',
  TAG_RESOLVE_FAILED: 'the tag is not known: remove it, or quote a text that begins with !',
  BAD_ALIAS: 'an alias or anchor has no valid name: quote a text that begins with * or &',
  BAD_SCALAR_START: 'a text cannot begin with @ or `: quote it',
  BAD_DQ_ESCAPE: 'a backslash within double quotes begins an unknown escape: use single quotes',
  RESOURCE_EXHAUSTION: 'the document is nested too deeply',
};

/** Faults after which the parser misreads the rest of a document, so that later faults are consequences of them. */
const misleading: ReadonlySet<ErrorCode> = new Set([
  'TAB_AS_INDENT',
  'BAD_INDENT',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'UNEXPECTED_TOKEN',
]);

/** The faults of a document: the first fault, and the later faults that are not consequences of it. */
export function yamlFaults(document: Document.Parsed, most: number, lines: LineCounter): readonly PlacedFault[] {
  const faults: readonly Fault[] = [...document.errors, ...document.warnings];
  const end = faults.findIndex(({ code }) => misleading.has(code));
  return faults.slice(0, Math.min(most, end < 0 ? most : end + 1)).map((fault) => placed(document, fault, lines));
}

function placed(document: Document.Parsed, fault: Fault, lines: LineCounter): PlacedFault {
  const [offset] = fault.pos;
  const { code, message } = fault;
  // The library reports a stack overflow with the message of the engine.
  if (message.startsWith('Maximum call stack')) return { offset, message: sentences.RESOURCE_EXHAUSTION ?? otherwise };
  const first = code === 'DUPLICATE_KEY' ? firstOfKey(document, offset) : undefined;
  if (first !== undefined) {
    const { line } = lines.linePos(first);
    return { offset, message: `the map has this key already, on line ${line}: remove one of the two` };
  }
  if (message.startsWith('Missing closing')) {
    return {
      offset: openedBefore(document, offset, 'quote') ?? offset,
      message: 'a quote is opened and not closed: close it',
    };
  }
  if (/end with a [\]}]/.test(message)) {
    const opened = openedBefore(document, offset, 'bracket');
    return { offset: opened ?? offset, message: 'a bracket is opened and not closed: close it, or quote the text' };
  }
  if (message.startsWith('Unexpected ,')) return { offset, message: 'a comma has no entry before it: remove it' };
  if (message.startsWith('Implicit map keys need')) {
    return { offset, message: 'a key is not followed by a colon and a space: write it as "key: value"' };
  }
  return { offset, message: sentences[code] ?? otherwise };
}

/** Offset of the first key that is equal to the key at an offset, in the same map. */
function firstOfKey(document: Document.Parsed, offset: number): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const keys = items.flatMap(({ key }) => (isScalar(key) ? [key] : []));
      const repeated = keys.find(({ range }) => range?.[0] === offset);
      if (repeated === undefined) return undefined;
      found = keys.find(({ value }) => value === repeated.value)?.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}

/** Offset of the first alias that names no anchor. */
export function unresolvedAlias(document: Document.Parsed): number | undefined {
  let found: number | undefined;
  visit(document, {
    Alias: (_, node) => {
      if (node.resolve(document) !== undefined) return undefined;
      found = node.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}

/** Offset of the last quoted text or bracketed list that is still open at an offset. */
function openedBefore(document: Document.Parsed, offset: number, what: 'quote' | 'bracket'): number | undefined {
  let found: number | undefined;
  visit(document, {
    Node: (_, node) => {
      const isWanted =
        what === 'quote'
          ? isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE')
          : isCollection(node) && node.flow === true;
      if (!isWanted) return;
      const [start, end] = node.range ?? [offset, offset];
      if (start < offset && end >= offset) found = start;
    },
  });
  return found;
}
