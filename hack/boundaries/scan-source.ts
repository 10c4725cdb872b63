/** A string literal of a source file; `value` is what stands between the quotes, escapes as written. */
export type StringLiteral = { readonly start: number; readonly value: string };

export type Scan = {
  /** The source with comments and the inside of strings, templates and patterns blanked; same length, same lines. */
  readonly code: string;
  readonly comments: string;
  readonly strings: readonly StringLiteral[];
};

const wordsBeforePattern = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'delete',
  'void',
  'throw',
  'await',
  'yield',
]);

/** Whether a slash after this code begins a pattern rather than a division. */
function beginsPattern(before: string): boolean {
  const trimmed = before.trimEnd();
  const last = trimmed.at(-1);
  if (last === undefined) return true;
  if (/[\w$]/.test(last)) return wordsBeforePattern.has(/[\w$]+$/.exec(trimmed)?.[0] ?? '');
  return !/[)\]}'"`]/.test(last);
}

function endOfPattern(text: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return at + 1;
    else if (char === '\n') return at;
  }
  return text.length;
}

function endOfQuoted(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote || text[at] === '\n') return at + 1;
  }
  return text.length;
}

/** End of the text part of a template: after its closing backtick, or after the `${` that opens code. */
function endOfTemplateText(text: string, start: number): { readonly end: number; readonly opensCode: boolean } {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return { end: at + 1, opensCode: false };
    else if (text[at] === '$' && text[at + 1] === '{') return { end: at + 2, opensCode: true };
  }
  return { end: text.length, opensCode: false };
}

/** Characters that neither open nor close anything, from lastIndex on. */
const uneventful = /[^'"`/{}]*/y;

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

function endOfComment(text: string, at: number): number {
  const mark = text[at + 1] === '*' ? '*/' : '\n';
  const end = text.indexOf(mark, at + 2);
  if (end < 0) return text.length;
  return mark === '\n' ? end : end + 2;
}

/**
 * Splits TypeScript into code, comments and string literals without parsing it. Reads sources as the formatter of
 * this checkout writes them; in a slash after a closing bracket it sees a division.
 */
export function scanSource(text: string): Scan {
  const strings: StringLiteral[] = [];
  const code: string[] = [];
  const comments: string[] = [];
  /** Depth of braces inside of each open template. */
  const templates: number[] = [];
  let recent = '';
  let at = 0;
  const take = (end: number, kind: 'code' | 'comment' | 'inside', edge = 0): void => {
    const piece = text.slice(at, end);
    const hidden =
      piece.slice(0, edge) + blank(piece.slice(edge, piece.length - edge)) + piece.slice(piece.length - edge);
    code.push(kind === 'code' ? piece : kind === 'comment' ? blank(piece) : hidden);
    comments.push(kind === 'comment' ? piece : blank(piece));
    if (kind !== 'comment') recent = (recent + piece).slice(-64);
    at = end;
  };
  const takeTemplateText = (start: number): void => {
    const { end, opensCode } = endOfTemplateText(text, start);
    if (!opensCode && text[at] === '`') strings.push({ start: at, value: text.slice(start, end - 1) });
    take(end, 'inside', 1);
    if (opensCode) templates.push(0);
  };
  while (at < text.length) {
    const char = text[at];
    const depth = templates.at(-1);
    if (char === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) take(endOfComment(text, at), 'comment');
    else if (char === "'" || char === '"') {
      const end = endOfQuoted(text, at);
      strings.push({ start: at, value: text.slice(at + 1, end - 1) });
      take(end, 'inside', 1);
    } else if (char === '`') takeTemplateText(at + 1);
    else if (char === '}' && depth === 0) {
      templates.pop();
      takeTemplateText(at + 1);
    } else if (char === '/' && beginsPattern(recent)) take(endOfPattern(text, at), 'inside', 1);
    else {
      if (depth !== undefined && char === '{') templates[templates.length - 1] = depth + 1;
      if (depth !== undefined && char === '}') templates[templates.length - 1] = depth - 1;
      uneventful.lastIndex = at + 1;
      uneventful.test(text);
      take(uneventful.lastIndex, 'code');
    }
  }
  return { code: code.join(''), comments: comments.join(''), strings };
}

export type Import = {
  readonly specifier: string;
  /** An import or export of types alone, gone at run time. */
  readonly typeOnly: boolean;
  /** A file that is not imported but named by `new URL(..., import.meta.url)`: run as a process or a worker. */
  readonly asUrl: boolean;
  readonly line: number;
};

const importForms: readonly { readonly form: RegExp; readonly asUrl: boolean }[] = [
  { form: /\b(?:import|export)\b(\s+type\b)?[^'"`;]*?\bfrom\s*(?=['"])/g, asUrl: false },
  { form: /\bimport\s*()(?=['"])/g, asUrl: false },
  { form: /\b(?:import|require)\s*\(\s*()(?=['"`])/g, asUrl: false },
  { form: /\bimport\.meta\.resolve\(\s*()(?=['"`])/g, asUrl: true },
  { form: /\bnew URL\(\s*()(?=['"`][^'"`]*['"`],\s*import\.meta\.url)/g, asUrl: true },
];

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Everything that a source file imports, statically or not. */
export function importsOf(scan: Scan): readonly Import[] {
  const values = new Map(scan.strings.map((string) => [string.start, string.value]));
  const found: Import[] = [];
  for (const { form, asUrl } of importForms) {
    for (const match of scan.code.matchAll(form)) {
      const specifier = values.get(match.index + match[0].length);
      if (specifier === undefined) continue;
      found.push({ specifier, typeOnly: match[1]?.trim() === 'type', asUrl, line: lineOf(scan.code, match.index) });
    }
  }
  return found;
}
