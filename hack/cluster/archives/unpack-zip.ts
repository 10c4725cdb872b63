import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type Entry, open, type ZipFile } from 'yauzl';

const openZip = promisify<string, { readonly lazyEntries: boolean; readonly autoClose: boolean }, ZipFile>(open);

/** Unpacks a zip file. @throws Error for a file outside of the folder */
export async function unpackZip(file: string, folder: string): Promise<void> {
  const zip = await openZip(file, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of entriesOf(zip)) {
      const target = resolve(folder, entry.fileName);
      if (relative(folder, target).startsWith('..')) throw new Error(`${file} has a file outside of its folder`);
      if (entry.fileName.endsWith('/')) mkdirSync(target, { recursive: true });
      else {
        mkdirSync(dirname(target), { recursive: true });
        await pipeline(await contentOf(zip, entry), createWriteStream(join(target)));
      }
    }
  } finally {
    zip.close();
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (let left = zip.entryCount; left > 0; left -= 1) {
    const next = Promise.withResolvers<Entry>();
    zip.once('entry', next.resolve);
    zip.once('error', next.reject);
    zip.readEntry();
    yield await next.promise;
    zip.removeListener('error', next.reject);
  }
}

function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolveWith, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolveWith(stream) : reject(error)));
  });
}
