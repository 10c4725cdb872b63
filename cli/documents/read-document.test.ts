import { createHash } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { childEnvironment } from '#kit/process/config';
import { byLine, startChild } from '#kit/process/start-child';
import { childrenOf, hasProcessTable, processTable } from '#kit/testing/process-table';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { archiveLimits } from './extraction/archive-size.ts';
import { type DocumentReader, documentLimits, openDocumentReader } from './read-document.ts';
import { makeDocx, makeEncryptedPdf, makePdf } from './testing/make-documents.ts';
import { makeZip } from './testing/make-zip.ts';

const folder = temporaryFolder();
let reader: DocumentReader;
beforeAll(() => {
  reader = openDocumentReader();
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function extracted(name: string, content: string | Uint8Array, from: DocumentReader = reader) {
  const path = join(folder.path, name);
  await writeFile(path, content);
  const read = await from.read(path);
  if (read.kind === 'fault') return read;
  const { contentHash, ...extraction } = read;
  expect(contentHash).toBe(`sha256:${createHash('sha256').update(content).digest('hex')}`);
  return extraction;
}

const fault = (name: string) => ({ kind: 'fault', fault: name });
const text = (document: object) => ({ kind: 'text', document });
/** The time for the spaces of a line grows with the square of their number. */
const slow = `<pre>a${' '.repeat(4_000_000)}a`;

describe('reading a document', () => {
  test('headings of Markdown begin sections, front matter gives the title, and a table keeps its headers', async () => {
    const markdown = [
      ...['---', 'title: Travel rules', '---', 'Who travels asks first.', '', '# Hotels', '', 'At most 3 nights.', ''],
      ...['| City | Limit |', '|---|---|', '| Bern | 180 |', '| Kyiv | 90 |', '', '## Trains', '', '- second class'],
    ].join('\n');
    expect(await extracted('rules.md', markdown)).toEqual(
      text({
        title: 'Travel rules',
        sections: [
          { text: 'Who travels asks first.' },
          { heading: 'Hotels', text: 'At most 3 nights.\n\nCity: Bern; Limit: 180\nCity: Kyiv; Limit: 90' },
          { heading: 'Trains', text: 'second class' },
        ],
      }),
    );
  });

  test('the text of an HTML file contains no scripts, styles or navigation, and its entities are decoded', async () => {
    const html =
      '<html><head><title>Ö &amp; U</title><style>p{}</style></head><body><nav>Menu</nav><script>x()</script>' +
      '<h1>One</h1><p>a <b>b</b>\nc</p><p>d</p><pre>x\n  y</pre></body></html>';
    const sections = [{ heading: 'One', text: 'a b c\n\nd\n\nx\ny' }];
    expect(await extracted('page.HTML', html)).toEqual(text({ title: 'Ö & U', sections }));
  });

  test('a document of 100,000 nested elements is read', async () => {
    const html = `${'<div>'.repeat(100_000)}deep`;
    expect(await extracted('deep.html', html)).toEqual(text({ sections: [{ text: 'deep' }] }));
  });

  test.each([
    ['windows-1251', '<meta charset="windows-1251"><p>', Buffer.from([0xcf, 0xf0, 0xe8])],
    ['UTF-16 with a byte order mark', '', Buffer.from('\ufeffПри', 'utf16le')],
  ])('HTML in %s is read in that encoding', async (_name, head, bytes) => {
    const content = Buffer.concat([Buffer.from(head), bytes]);
    expect(await extracted('encoded.html', content)).toEqual(text({ sections: [{ text: 'При' }] }));
  });

  test.each([
    ['broken UTF-8', 'a.txt', Buffer.from([0x61, 0xff, 0x62])],
    ['an unknown declared character set', 'a.html', Buffer.from('<meta charset=nonsense>a')],
    ['a binary file with the extension of a text', 'b.txt', Buffer.from([0x61, 0x00, 0x62])],
  ])('the document %s is reported with a fault of its encoding', async (_name, file, bytes) => {
    expect(await extracted(file, bytes)).toEqual(fault('encoding'));
  });

  test('a PDF has a section for each page with text', async () => {
    expect(await extracted('a.pdf', makePdf(['First page', '', 'Third page']))).toEqual(
      text({ sections: [{ text: 'First page' }, { text: 'Third page' }], pages: [1, 3] }),
    );
  });

  test('a Word document is read', async () => {
    const found = await extracted('a.docx', makeDocx(['One', 'Two']));
    expect(found).toEqual(text({ sections: [{ text: 'One\n\nTwo' }] }));
  });

  test.each([
    ['a PDF that is cut off', 'cut.pdf', makePdf(['a']).subarray(0, 40)],
    ['a file that is not a PDF', 'no.pdf', Buffer.from('hello')],
    ['a Word document that is cut off', 'cut.docx', makeDocx(['a']).subarray(0, 200)],
    ['an archive without a document', 'empty.docx', makeZip([{ name: 'a', content: 'b' }])],
    ['an archive with a false size', 'lie.docx', makeDocx(['a'], [{ name: 'x', content: 'abc', declaredSize: 1 }])],
  ])('%s is malformed', async (_name, file, bytes) => {
    expect(await extracted(file, bytes)).toEqual(fault('malformed'));
  });

  test('an archive at the limit of its expanded size is read, and one above it is refused', async () => {
    const bytes = (count: number) => [{ name: 'x', content: Buffer.alloc(count) }];
    const own = archiveLimits.bytes - 2_000;
    expect(await extracted('large.docx', makeDocx(['a'], bytes(own)))).toMatchObject({ kind: 'text' });
    const bomb = makeDocx(['a'], bytes(archiveLimits.bytes + 1));
    expect(await extracted('bomb.docx', bomb)).toEqual(fault('expands_too_much'));
    expect(bomb.length).toBeLessThan(300_000);
  });

  test('an encrypted PDF is refused as encrypted', async () => {
    expect(await extracted('secret.pdf', makeEncryptedPdf(['a']))).toEqual(fault('encrypted'));
  });

  test('an encrypted archive is refused as encrypted', async () => {
    const bytes = makeZip([{ name: 'word/document.xml', content: 'a', encrypted: true }]);
    expect(await extracted('secret.docx', bytes)).toEqual(fault('encrypted'));
  });

  test.each([
    ['a.txt', '', 'empty'],
    ['a.md', '', 'empty'],
    ['a.pdf', '', 'empty'],
    ['a.docx', '', 'empty'],
    ['a.txt', '  \n ', 'no_text'],
    ['a.png', 'x', 'unsupported'],
    ['README', 'x', 'unsupported'],
  ])('reading the file %s with %j fails with the fault %s', async (file, content, expected) => {
    expect(await extracted(file, content)).toEqual(fault(expected));
  });

  test('a file at the limit of bytes is read, and one above it is refused', async () => {
    await using small = openDocumentReader({ ...documentLimits, fileBytes: 4 });
    expect(await extracted('four.txt', 'four', small)).toMatchObject({ kind: 'text' });
    expect(await extracted('five.txt', 'fives', small)).toEqual(fault('file_too_large'));
  });

  test('a file whose size is not known is read up to the limit only', async () => {
    await using small = openDocumentReader({ ...documentLimits, fileBytes: 4 });
    const path = join(folder.path, 'endless.txt');
    await symlink('/dev/zero', path);
    expect(await small.read(path)).toEqual(fault('file_too_large'));
  });

  test('a file of an unknown format is not read', async () => {
    expect(await reader.read('/dev/zero')).toEqual(fault('unsupported'));
    expect(await reader.read('/dev/stdin')).toEqual(fault('unsupported'));
    expect(await extracted('next.txt', 'next')).toMatchObject({ kind: 'text' });
  });

  test('a document at the limit of bytes as JSON is read, and one above it or far above it is refused', async () => {
    const most = 4_194_304 - '{"sections":[{"text":""}]}'.length;
    expect(await extracted('most.txt', 'a'.repeat(most))).toMatchObject({ kind: 'text' });
    expect(await extracted('more.txt', 'a'.repeat(most + 1))).toEqual(fault('text_too_large'));
    expect(await extracted('quotes.txt', '"'.repeat(most / 2 + 1))).toEqual(fault('text_too_large'));
    expect(await extracted('full.txt', 'я'.repeat(documentLimits.fileBytes / 2))).toEqual(fault('text_too_large'));
  });

  test('a document with the maximum number of sections is read, and one with another section is refused', async () => {
    expect(await extracted('sections.md', '# a\n'.repeat(10_000))).toMatchObject({ kind: 'text' });
    expect(await extracted('more.md', '# a\n'.repeat(10_001))).toEqual(fault('text_too_large'));
  });

  test('a file whose reading exceeds the time limit is refused, and the next file is read by a new process', async () => {
    await using hasty = openDocumentReader({ ...documentLimits, timeoutMs: 5_000 });
    expect(await extracted('slow.html', slow, hasty)).toEqual(fault('too_costly'));
    expect(await extracted('next.txt', 'next', hasty)).toMatchObject({ kind: 'text' });
  });

  test('a file whose reading exceeds the memory limit is refused, and the next file is read by a new process', async () => {
    await using narrow = openDocumentReader({ ...documentLimits, heapMb: 48 });
    expect(await extracted('wide.html', '<p><b>'.repeat(1_000_000), narrow)).toEqual(fault('too_costly'));
    expect(await extracted('next.txt', 'next', narrow)).toMatchObject({ kind: 'text' });
  });

  test('a file that needs many times the memory limit in one step is refused, and read with a higher limit', async () => {
    await using narrow = openDocumentReader({ ...documentLimits, heapMb: 48 });
    const lines = `<pre>${'\n'.repeat(8_000_000)}a`;
    expect(await extracted('lines.html', lines, narrow)).toEqual(fault('too_costly'));
    expect(await extracted('next.txt', 'next', narrow)).toMatchObject({ kind: 'text' });
    expect(await extracted('lines.html', lines)).toEqual(text({ sections: [{ text: 'a' }] }));
  });

  test.skipIf(!hasProcessTable)('a process that reads a document ends when the command is killed', async () => {
    const path = join(folder.path, 'slow.html');
    await writeFile(path, slow);
    const { promise: started, resolve } = Promise.withResolvers<string>();
    const program = join(import.meta.dirname, 'testing/read-file.ts');
    const parent = startChild([process.execPath, program, path], { env: childEnvironment(), stdout: byLine(resolve) });
    await started;
    const [child = 0] = childrenOf(parent.pid ?? 0, 'portcullis-documents');
    expect(child).toBeGreaterThan(0);
    parent.signal('SIGKILL');
    await parent.ended;
    const hasEnded = (): boolean => processTable().every(({ pid }) => pid !== child);
    onTestFinished(() => void (hasEnded() || process.kill(child, 'SIGKILL')));
    await until('the process has ended', hasEnded);
  });

  test('a folder and an absent file are errors of the file system', async () => {
    const path = join(folder.path, 'sub.txt');
    await mkdir(path);
    await expect(reader.read(path)).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(reader.read(join(folder.path, 'absent.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
