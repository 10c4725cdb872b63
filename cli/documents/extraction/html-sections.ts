import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { DocumentSection, DocumentText } from './document-text.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Elements whose content is not displayed as text. */
const hidden = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'head', 'nav']);
const headings = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
/** Elements that begin on their own line. */
const blocks = new Set([
  ...['address', 'article', 'aside', 'blockquote', 'body', 'br', 'dd', 'details', 'div', 'dl', 'dt', 'fieldset'],
  ...['figcaption', 'figure', 'footer', 'form', 'header', 'hr', 'li', 'main', 'ol', 'p', 'pre', 'section', 'summary'],
  ...['table', 'tr', 'ul'],
]);

type OpenSection = { heading: string | undefined; text: string };

/**
 * The text of an HTML document in sections, each of which begins with a heading. A table row becomes one line in which
 * each cell follows the header of its column, so that the row can be read without the table.
 */
export function readHtml(html: string): DocumentText {
  const tree = parse(html);
  const sections: OpenSection[] = [{ heading: undefined, text: '' }];
  // A deeply nested document must not exhaust the stack.
  const open: (Node | { readonly close: string })[] = [...tree.childNodes].toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const section = sections.at(-1) as OpenSection;
    if ('close' in node) section.text += node.close;
    else if ('value' in node) section.text += node.value.replaceAll(/[\t\n\f\r ]+/g, ' ');
    else if ('tagName' in node && headings.has(node.tagName)) sections.push({ heading: textOf(node), text: '' });
    else if ('tagName' in node && node.tagName === 'table') section.text += `\n${tableText(node)}\n`;
    else if ('tagName' in node && node.tagName === 'pre') section.text += `\n${rawText(node)}\n`;
    else if ('childNodes' in node && !('tagName' in node && hidden.has(node.tagName))) {
      const edge = 'tagName' in node && blocks.has(node.tagName) ? '\n' : '';
      section.text += edge;
      open.push({ close: edge }, ...[...node.childNodes].toReversed());
    }
  }
  const title = titleOf(tree.childNodes) ?? sections.find(({ heading }) => heading !== undefined)?.heading;
  return { ...(title === undefined ? {} : { title }), sections: sections.flatMap(closed) };
}

function closed({ heading, text }: OpenSection): readonly DocumentSection[] {
  const tidy = tidyLines(text);
  if (tidy === '' && heading === undefined) return [];
  return [
    { ...(heading === undefined || heading === '' ? {} : { heading }), text: tidy === '' ? (heading ?? '') : tidy },
  ];
}

function tidyLines(text: string): string {
  const lines = text.split('\n').map((line) => line.replaceAll(/^ +| +$/g, ''));
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function titleOf(nodes: readonly Node[]): string | undefined {
  const found = elementsOf(nodes, 'title').find((one) => textOf(one) !== '');
  return found === undefined ? undefined : textOf(found);
}

/** Elements of a name in the order of the document. */
function elementsOf(nodes: readonly Node[], name: string, except?: string): readonly Element[] {
  const found: Element[] = [];
  const open = [...nodes].toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!('childNodes' in node)) continue;
    if ('tagName' in node && node.tagName === name) found.push(node);
    else if (!('tagName' in node && node.tagName === except)) open.push(...[...node.childNodes].toReversed());
  }
  return found;
}

function rawText(element: Element): string {
  let text = '';
  const open: Node[] = [...element.childNodes].toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('value' in node) text += node.value;
    else if ('tagName' in node && node.tagName === 'br') text += '\n';
    else if ('childNodes' in node && !('tagName' in node && hidden.has(node.tagName))) {
      open.push(...[...node.childNodes].toReversed());
    }
  }
  return text;
}

function textOf(element: Element): string {
  return rawText(element).replaceAll(/\s+/g, ' ').trim();
}

function tableText(table: Element): string {
  const rows = elementsOf(table.childNodes, 'tr', 'table').map((row) =>
    row.childNodes.filter((cell): cell is Element => 'tagName' in cell && /^t[hd]$/.test(cell.tagName)),
  );
  const [first = []] = rows;
  const hasHeaders = first.length > 1 && first.every((cell) => cell.tagName === 'th' || isInHead(cell));
  const headers = hasHeaders ? first.map(textOf) : [];
  return rows
    .slice(hasHeaders ? 1 : 0)
    .map((cells) =>
      cells.map((cell, column) => withHeader(textOf(cell), headers[column])).filter((text) => text !== ''),
    )
    .map((texts) => texts.join('; '))
    .join('\n');
}

function isInHead(cell: Element): boolean {
  const row = cell.parentNode;
  const parent = row !== null && 'parentNode' in row ? row.parentNode : null;
  return parent !== null && 'tagName' in parent && parent.tagName === 'thead';
}

function withHeader(text: string, header: string | undefined): string {
  return header === undefined || header === '' || text === '' ? text : `${header}: ${text}`;
}
