import { Lexer } from 'yaml';
import { flowLimits } from '#contracts/flow-limits';

/** Marks of the lexer that are not part of the text: a document begins, a scalar follows, a collection is not closed. */
const marks = new Set(['\x02', '\x1f', '\x18']);
const scalarMark = '\x1f';
const refusedSigns: ReadonlyMap<string, string> = new Map([
  ['&', 'has an anchor: remove it'],
  ['*', 'has an alias: repeat the value'],
  ['!', 'has a tag: remove it'],
]);

/**
 * The first token that no source may have: an anchor, an alias, a tag, or a token that exceeds the nesting limit by
 * brackets or on one line. The search takes one pass and is made before parsing, because the time of the parser grows
 * with the square of such tokens.
 */
export function findRefusedToken(text: string): { readonly offset: number; readonly message: string } | undefined {
  let [offset, brackets, onLine] = [0, 0, 0];
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    const isMark: boolean = !isScalar && marks.has(token);
    if (!isScalar && !isMark) {
      const refused = refusedSigns.get(token.charAt(0));
      if (refused !== undefined) return { offset, message: refused };
      if (token === '{' || token === '[') brackets += 1;
      else if (token === '}' || token === ']') brackets -= 1;
      else if (token.startsWith('\n') || token.startsWith('\r')) onLine = 0;
      else if (brackets === 0 && (token === '-' || token === '?' || token === ':')) onLine += 1;
      if (brackets + onLine > flowLimits.sourceDepth) {
        return { offset, message: `is nested deeper than ${flowLimits.sourceDepth} levels` };
      }
    }
    if (!isMark) offset += token.length;
    isScalar = isMark && token === scalarMark;
  }
  return undefined;
}
