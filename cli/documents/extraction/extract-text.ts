import { extname } from 'node:path';
import mammoth from 'mammoth';
import { marked } from 'marked';
import { extractText as extractPdfText, getDocumentProxy, getMeta } from 'unpdf';
import { parse } from 'yaml';
import { sizeOfArchive } from './archive-size.ts';
import { decodeText } from './decode-text.ts';
import type { DocumentText, Extraction, ExtractionFault } from './document-text.ts';
import { readHtml } from './html-sections.ts';

type Reader = (bytes: Uint8Array) => Promise<DocumentText | ExtractionFault> | DocumentText | ExtractionFault;

const readers: Readonly<Record<string, Reader>> = {
  '.txt': readText,
  '.md': readMarkdown,
  '.markdown': readMarkdown,
  '.html': readHtmlBytes,
  '.htm': readHtmlBytes,
  '.pdf': readPdf,
  '.docx': readDocx,
};

function readerOf(path: string): Reader | undefined {
  return readers[extname(path).toLowerCase()];
}

export function isKnownFormat(path: string): boolean {
  return readerOf(path) !== undefined;
}

/** The text of a file of a known format, which its extension names. */
export async function extractText(path: string, bytes: Uint8Array): Promise<Extraction> {
  const reader = readerOf(path);
  if (reader === undefined) return { kind: 'fault', fault: 'unsupported' };
  if (bytes.length === 0) return { kind: 'fault', fault: 'empty' };
  const found = await reader(bytes);
  if (typeof found === 'string') return { kind: 'fault', fault: found };
  if (found.sections.every(({ text }) => text.trim() === '')) return { kind: 'fault', fault: 'no_text' };
  return { kind: 'text', document: found };
}

function readText(bytes: Uint8Array): DocumentText | ExtractionFault {
  const text = decodeText(bytes, 'text');
  return text === undefined ? 'encoding' : { sections: [{ text: text.replaceAll('\r\n', '\n') }] };
}

function readHtmlBytes(bytes: Uint8Array): DocumentText | ExtractionFault {
  const text = decodeText(bytes, 'html');
  return text === undefined ? 'encoding' : readHtml(text);
}

const frontMatter = /^---\n([\s\S]{0,65536}?)\n---(?:\n|$)/;

async function readMarkdown(bytes: Uint8Array): Promise<DocumentText | ExtractionFault> {
  const text = decodeText(bytes, 'text')?.replaceAll('\r\n', '\n');
  if (text === undefined) return 'encoding';
  const matter = frontMatter.exec(text);
  const title = titleOfMatter(matter?.[1]);
  const found = readHtml(await marked.parse(text.slice(matter?.[0].length ?? 0)));
  return title === undefined ? found : { ...found, title };
}

/** Front matter that is not YAML belongs to another tool: the title is then the first heading. */
function titleOfMatter(yaml: string | undefined): string | undefined {
  if (yaml === undefined) return undefined;
  try {
    const { title } = (parse(yaml) ?? {}) as { readonly title?: unknown };
    return typeof title === 'string' && title.trim() !== '' ? title.trim() : undefined;
  } catch {
    return undefined;
  }
}

async function readPdf(bytes: Uint8Array): Promise<DocumentText | ExtractionFault> {
  try {
    const pdf = await getDocumentProxy(bytes);
    const { info } = await getMeta(pdf);
    const { text: texts } = await extractPdfText(pdf, { mergePages: false });
    const kept = texts.flatMap((text, index) => (text.trim() === '' ? [] : [{ text: text.trim(), page: index + 1 }]));
    const title: unknown = info.Title;
    return {
      ...(typeof title === 'string' && title.trim() !== '' ? { title: title.trim() } : {}),
      sections: kept.map(({ text }) => ({ text })),
      pages: kept.map(({ page }) => page),
    };
  } catch (error) {
    return error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'malformed';
  }
}

async function readDocx(bytes: Uint8Array): Promise<DocumentText | ExtractionFault> {
  const size = await sizeOfArchive(bytes);
  if (size !== 'within') return size;
  try {
    const noImages = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
    const { value } = await mammoth.convertToHtml(
      { buffer: Buffer.from(bytes) },
      { convertImage: noImages, externalFileAccess: false, styleMap: ["p[style-name='Title'] => h1:fresh"] },
    );
    return readHtml(value);
  } catch {
    return 'malformed';
  }
}
