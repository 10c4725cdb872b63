import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { KeyPair } from '../../hack/cluster/certificates/authority.ts';

export type MountedPair = Disposable & {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Replaces both files at once, as a kubelet does: it replaces the link to the folder of the newest content. */
  swap(pair: KeyPair): void;
  /** Writes a file with this content into the folder of the mounted files, and returns its path. */
  file(name: string, content: string): string;
};

/** A certificate and its key, as a mounted Secret of the type kubernetes.io/tls. */
export function mountPair(pair: KeyPair): MountedPair {
  const folder = temporaryFolder();
  const path = (name: string): string => join(folder.path, name);
  let count = 0;

  function swap({ certificate, key }: KeyPair): void {
    count += 1;
    mkdirSync(path(`..${count}`));
    writeFileSync(path(`..${count}/tls.crt`), certificate);
    writeFileSync(path(`..${count}/tls.key`), key);
    symlinkSync(`..${count}`, path('..data_tmp'));
    renameSync(path('..data_tmp'), path('..data'));
  }

  swap(pair);
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), path(name));
  return {
    certificateFile: path('tls.crt'),
    keyFile: path('tls.key'),
    swap,
    file(name, content) {
      writeFileSync(path(name), content);
      return path(name);
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}
