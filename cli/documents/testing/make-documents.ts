import { makeZip, type ZipFile } from './make-zip.ts';

/** A PDF file with one line of text on each page. */
export function makePdf(lines: readonly string[]): Buffer {
  return pdfOf(lines, '');
}

/** A PDF that opens with a password only (PDF 1.4, 3.5.2: standard security handler, revision 2). */
export function makeEncryptedPdf(lines: readonly string[]): Buffer {
  const entry = `<${'5a'.repeat(32)}>`;
  const handler = `<< /Filter /Standard /V 1 /R 2 /P -4 /O ${entry} /U ${entry} >>`;
  return pdfOf(lines, `/Encrypt ${handler} /ID [<01> <01>]`);
}

function pdfOf(lines: readonly string[], trailerEntries: string): Buffer {
  const kids = lines.map((_line, index) => `${4 + 2 * index} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${lines.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...lines.flatMap((line, index) => {
      const content = `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`;
      const page = `/Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>`;
      return [
        `<< /Type /Page ${page} /Contents ${5 + 2 * index} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailerEntries} >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}${table}${trailer}`, 'latin1');
}

const contentTypes =
  '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ' +
  'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';
const relations =
  '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
  '<Relationship Id="r1" Target="word/document.xml" ' +
  'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>';

/** A Word document with the given paragraphs, and additional files in its archive. */
export function makeDocx(paragraphs: readonly string[], further: readonly ZipFile[] = []): Buffer {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('');
  const document =
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">' +
    `<w:body>${body}</w:body></w:document>`;
  return makeZip([
    { name: '[Content_Types].xml', content: contentTypes },
    { name: '_rels/.rels', content: relations },
    { name: 'word/document.xml', content: document },
    ...further,
  ]);
}
