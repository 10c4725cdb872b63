import { createHash } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { ClusterError } from '../cluster-error.ts';
import { type Entry, withFolders } from './entry.ts';
import { endOfArchive, memberFrame, tarOf, tarSize } from './tar.ts';

export type Image = {
  /** Repository and tag, for example localhost/portcullis:dev. */
  readonly name: string;
  /** Each over the ones before it. What seldom changes comes first. */
  readonly layers: readonly (readonly Entry[])[];
  /** User and group, numbers. */
  readonly user: string;
  readonly workingFolder: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The image configuration of the OCI image specification; without a time, so that equal images have equal digests. */
function configOf(image: Image, layerDigests: readonly string[]): string {
  return JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    config: {
      User: image.user,
      WorkingDir: image.workingFolder,
      Entrypoint: image.entrypoint,
      Cmd: image.command,
      Env: Object.entries(image.environment).map(([name, value]) => `${name}=${value}`),
    },
    rootfs: { type: 'layers', diff_ids: layerDigests },
  });
}

/**
 * Writes an image as the archive that `docker load`, `podman load` and `ctr images import` read. Equal files give equal
 * bytes; the archive appears whole or not at all.
 * @returns digest of its configuration, which engines call the id of the image
 */
export function writeImage(archiveFile: string, image: Image): string {
  const scratch = `${archiveFile}.${process.pid}`;
  const file = openSync(scratch, 'w');
  let isComplete = false;
  const write = (bytes: Uint8Array): void => {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
  };
  const member = (path: string, bytes: Uint8Array): void => {
    const { before, after } = memberFrame(path, bytes.length);
    for (const part of [before, bytes, after]) write(part);
  };
  try {
    const layerFiles = image.layers.map((_layer, at) => `layer-${at}.tar`);
    const digests = image.layers.map((layer, at) => {
      const entries = withFolders(layer);
      const size = tarSize(entries);
      const { before, after } = memberFrame(layerFiles[at] ?? '', size);
      const hash = createHash('sha256');
      let written = 0;
      write(before);
      for (const bytes of tarOf(entries)) {
        hash.update(bytes);
        write(bytes);
        written += bytes.length;
      }
      write(after);
      if (written !== size) throw new ClusterError('busy', 'Files changed while the image was built: build it again.');
      return `sha256:${hash.digest('hex')}`;
    });
    const config = configOf(image, digests);
    const digest = createHash('sha256').update(config).digest('hex');
    member(`${digest}.json`, Buffer.from(config));
    const manifest = [{ Config: `${digest}.json`, RepoTags: [image.name], Layers: layerFiles }];
    member('manifest.json', Buffer.from(JSON.stringify(manifest)));
    write(endOfArchive);
    isComplete = true;
    return `sha256:${digest}`;
  } finally {
    closeSync(file);
    if (isComplete) renameSync(scratch, archiveFile);
    else rmSync(scratch, { force: true });
  }
}
