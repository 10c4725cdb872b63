import { parseAst } from 'vitest/node';

type Import = {
  readonly specifier: string;
  /** An import or export of types only, which does not exist at run time. */
  readonly typeOnly: boolean;
  /** A file that is not imported but named by `new URL(..., import.meta.url)`: run as a process or a worker. */
  readonly asUrl: boolean;
  readonly line: number;
  /** Exported names that the importing file takes; `*` means all of them. */
  readonly names: readonly string[];
  /** `export * from`: the importing file re-exports all of them. */
  readonly passedOn: boolean;
  /** Whether this is `export ... from`, by which the importing file exports these names of the other file. */
  readonly isReexport: boolean;
};

/** A name that a file exports; `default` for the default export. Names that `export *` exports are not included. */
type Export = { readonly name: string; readonly line: number };

export type Scan = {
  /** The source with comments and the text of strings, templates and patterns blanked; same length, same lines. */
  readonly code: string;
  /** The comments only; other text is replaced by spaces, so that the length and the lines are the same. */
  readonly comments: string;
  /** String literals, and templates without expressions. */
  readonly strings: readonly { readonly value: string; readonly line: number }[];
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
  /** Lines of tests, groups of tests and hooks that set a timeout of their own. */
  readonly testTimeouts: readonly number[];
  /** Lines of tests whose title consists of values of a table alone. */
  readonly bareTitles: readonly number[];
};

/** A node of the syntax tree (ESTree with TypeScript), whose members depend on its type. */
type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof (value as Node | null)?.type === 'string';
}

function visitChildren(node: Node, visit: (child: Node) => void): void {
  for (const member in node) {
    const value: unknown = node[member];
    if (Array.isArray(value)) for (const item of value as readonly unknown[]) isNode(item) && visit(item);
    else if (isNode(value)) visit(value);
  }
}

function nodesAt(node: Node, member: string): readonly Node[] {
  return ((node[member] ?? []) as readonly (Node | null)[]).filter(isNode);
}

function nodeAt(node: Node, member: string): Node | undefined {
  return isNode(node[member]) ? node[member] : undefined;
}

/** The name in an identifier, or in a string that is used instead. */
function nameOf(node: Node | undefined): string {
  return String(node?.name ?? node?.value);
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** The text of a string, or of a template without expressions. */
function textOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral' || nodesAt(node, 'expressions').length > 0) return undefined;
  const quasi = nodesAt(node, 'quasis')[0]?.value as
    | { readonly cooked: string | null; readonly raw: string }
    | undefined;
  // A tagged template may hold a backslash that is not an escape; then it has only its raw text.
  return quasi?.cooked ?? quasi?.raw;
}

/** Ranges of the source that a syntax node holds as text instead of code, without the quotes. */
function textRange(node: Node): readonly [start: number, end: number] | undefined {
  if (node.type === 'TemplateElement') return [node.start + 1, node.end - (node.tail === true ? 1 : 2)];
  const holdsText = node.type === 'Literal' && (typeof node.value === 'string' || node.regex !== undefined);
  return holdsText ? [node.start + 1, node.end - 1] : undefined;
}

function isMember(node: Node | undefined, text: string, ...path: readonly string[]): boolean {
  return node?.type === 'MemberExpression' && text.slice(node.start, node.end) === path.join('.');
}

/** The names that an import or a re-export takes from the other file. */
function takenNames(node: Node): readonly string[] {
  return nodesAt(node, 'specifiers').map((specifier) => {
    if (specifier.type === 'ImportDefaultSpecifier') return 'default';
    if (specifier.type === 'ImportNamespaceSpecifier') return '*';
    return nameOf(nodeAt(specifier, specifier.type === 'ExportSpecifier' ? 'local' : 'imported'));
  });
}

type Reference = Omit<Import, 'line' | 'specifier'> & { readonly source: Node | undefined };

/** The file that a syntax node imports from; undefined if it imports none. */
function referenceOf(node: Node, text: string): Reference | undefined {
  const none = { typeOnly: false, asUrl: false, names: [], passedOn: false, isReexport: false };
  const [first, second] = nodesAt(node, 'arguments');
  switch (node.type) {
    case 'ImportDeclaration':
      return { ...none, source: nodeAt(node, 'source'), typeOnly: node.importKind === 'type', names: takenNames(node) };
    case 'ExportNamedDeclaration': {
      const typeOnly = node.exportKind === 'type';
      return { ...none, source: nodeAt(node, 'source'), typeOnly, names: takenNames(node), isReexport: true };
    }
    case 'ExportAllDeclaration': {
      const typeOnly = node.exportKind === 'type';
      return {
        ...none,
        source: nodeAt(node, 'source'),
        typeOnly,
        names: ['*'],
        passedOn: !isNode(node.exported),
        isReexport: true,
      };
    }
    case 'ImportExpression':
      return { ...none, source: nodeAt(node, 'source'), names: ['*'] };
    case 'TSImportType': {
      const qualifier = nodeAt(node, 'qualifier');
      const names = [qualifier?.type === 'Identifier' ? nameOf(qualifier) : '*'];
      return { ...none, source: nodeAt(node, 'source'), typeOnly: true, names };
    }
    case 'CallExpression': {
      const callee = nodeAt(node, 'callee');
      if (isMember(callee, text, 'import', 'meta', 'resolve')) return { ...none, source: first, asUrl: true };
      return nameOf(callee) === 'require' ? { ...none, source: first, names: ['*'] } : undefined;
    }
    case 'NewExpression': {
      const isUrl = nameOf(nodeAt(node, 'callee')) === 'URL' && isMember(second, text, 'import', 'meta', 'url');
      return isUrl ? { ...none, source: first, asUrl: true } : undefined;
    }
    default:
      return undefined;
  }
}

/** Names that a pattern or a declaration binds. */
function boundNames(node: Node | undefined): readonly Node[] {
  if (node === undefined) return [];
  switch (node.type) {
    case 'Identifier':
      return [node];
    case 'VariableDeclaration':
      return nodesAt(node, 'declarations').flatMap((one) => boundNames(nodeAt(one, 'id')));
    case 'ObjectPattern':
      return nodesAt(node, 'properties').flatMap((one) => boundNames(nodeAt(one, 'value') ?? nodeAt(one, 'argument')));
    case 'RestElement':
      return boundNames(nodeAt(node, 'argument'));
    case 'ArrayPattern':
      return nodesAt(node, 'elements').flatMap(boundNames);
    case 'AssignmentPattern':
      return boundNames(nodeAt(node, 'left'));
    default:
      return boundNames(nodeAt(node, 'id'));
  }
}

function exportsOf(node: Node, text: string): readonly Export[] {
  const at = ({ start }: Node, name: string): Export => ({ name, line: lineOf(text, start) });
  if (node.type === 'ExportDefaultDeclaration') return [at(node, 'default')];
  if (node.type === 'ExportAllDeclaration' && isNode(node.exported)) return [at(node, nameOf(node.exported))];
  if (node.type !== 'ExportNamedDeclaration') return [];
  const declared = boundNames(nodeAt(node, 'declaration')).map((name) => at(name, nameOf(name)));
  return [...declared, ...nodesAt(node, 'specifiers').map((one) => at(one, nameOf(nodeAt(one, 'exported'))))];
}

const testCalls = /^(?:test|it|verifies|describe|(?:before|after)(?:All|Each))$/;

/** The first name of a callee: `test` of `test.each(rows)(title, run)`. */
function firstName(callee: Node | undefined): string {
  const inner = callee && (nodeAt(callee, 'object') ?? nodeAt(callee, 'callee') ?? nodeAt(callee, 'tag'));
  return inner === undefined ? nameOf(callee) : firstName(inner);
}

/** A call that makes a test or a hook, with a number after its function or with `timeout` among its options. */
function setsTestTimeout(node: Node): boolean {
  if (node.type !== 'CallExpression' || !testCalls.test(firstName(nodeAt(node, 'callee')))) return false;
  return nodesAt(node, 'arguments').some((argument, index, all) => {
    if (argument.type === 'Literal')
      return typeof argument.value === 'number' && /Function/.test(all[index - 1]?.type ?? '');
    if (argument.type !== 'ObjectExpression') return false;
    return nodesAt(argument, 'properties').some((property) => nameOf(nodeAt(property, 'key')) === 'timeout');
  });
}

/** A test whose title has no fixed word, such as `%s`. */
function hasBareTitle(node: Node): boolean {
  if (node.type !== 'CallExpression' || !/^(?:test|it|verifies)$/.test(firstName(nodeAt(node, 'callee')))) return false;
  const title = nodesAt(node, 'arguments')
    .map(textOf)
    .find((text) => text !== undefined);
  return title !== undefined && !/[a-z]/i.test(title.replace(/%\w|\$[\w.]+/g, ''));
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Blanks the ranges, which do not overlap. */
function withoutTexts(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const [start, end] of [...ranges].sort(([one], [other]) => one - other)) {
    pieces.push(text.slice(from, start), blank(text.slice(start, end)));
    from = end;
  }
  return [...pieces, text.slice(from)].join('');
}

/** Separates code from comments in a source whose texts are blanked, so that each of these marks begins a comment. */
function splitComments(text: string): { readonly code: string; readonly comments: string } {
  const code: string[] = [];
  const comments: string[] = [];
  for (const [index, piece] of text.split(/(\/\*.*?\*\/|\/\/[^\n]*)/s).entries()) {
    const isComment = index % 2 === 1;
    code.push(isComment ? blank(piece) : piece);
    comments.push(isComment ? piece : blank(piece));
  }
  return { code: code.join(''), comments: comments.join('') };
}

/** Reads the facts that the rules need from a TypeScript file. */
export function scanSource(text: string): Scan {
  const texts: (readonly [start: number, end: number])[] = [];
  const imports: Import[] = [];
  const exports: Export[] = [];
  const strings: Scan['strings'][number][] = [];
  const testTimeouts: number[] = [];
  const bareTitles: number[] = [];
  const visit = (node: Node): void => {
    const value = textOf(node);
    if (value !== undefined) strings.push({ value, line: lineOf(text, node.start) });
    const range = textRange(node);
    if (range !== undefined) texts.push(range);
    const { source, ...reference } = referenceOf(node, text) ?? { source: undefined };
    const specifier = textOf(source);
    if (specifier !== undefined)
      imports.push({ ...(reference as Reference), specifier, line: lineOf(text, node.start) });
    exports.push(...exportsOf(node, text));
    if (setsTestTimeout(node)) testTimeouts.push(lineOf(text, node.start));
    if (hasBareTitle(node)) bareTitles.push(lineOf(text, node.start));
    visitChildren(node, visit);
  };
  visit(parseAst(text, { lang: 'ts', astType: 'ts', sourceType: 'module' }) as unknown as Node);
  return { ...splitComments(withoutTexts(text, texts)), strings, imports, exports, testTimeouts, bareTitles };
}
