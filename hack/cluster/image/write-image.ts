import { createHash } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { ClusterError } from '../machine/cluster-error.ts';
import { type Entry, withFolders } from './entry.ts';
import { endOfArchive, memberFrame, tarOf, tarSize } from './tar.ts';

export type Image = {
  /** Repository and tag, for example localhost/portcullis:dev. */
  readonly name: string;
  /** Layers, each on top of the previous layers. Layers that rarely change are first. */
  readonly layers: readonly (readonly Entry[])[];
  /** Numbers of the user and the group. */
  readonly user: string;
  readonly workingFolder: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * The image configuration of the OCI image specification. The configuration contains no time, so that equal images have
 * equal digests.
 */
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

type WrittenLayer = { readonly file: string; readonly digest: string };

/** Writes a layer as a member of the archive. */
function writeLayer(layer: readonly Entry[], file: string, write: (bytes: Uint8Array) => void): WrittenLayer {
  const entries = withFolders(layer);
  const size = tarSize(entries);
  const { before, after } = memberFrame(file, size);
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
  return { file, digest: `sha256:${hash.digest('hex')}` };
}

/**
 * Writes images as an archive that `docker load`, `podman load` and `ctr images import` read; a shared layer is written
 * once. Equal files give equal bytes. The archive is complete or absent. @returns digests of the image configurations,
 * which engines call image ids
 */
export function writeImages(archiveFile: string, images: readonly Image[]): readonly string[] {
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
    const written = new Map<Image['layers'][number], WrittenLayer>();
    for (const layer of new Set(images.flatMap(({ layers }) => layers))) {
      written.set(layer, writeLayer(layer, `layer-${written.size}.tar`, write));
    }
    const described = images.map((image) => {
      const layers = image.layers.flatMap((layer) => written.get(layer) ?? []);
      const config = configOf(
        image,
        layers.map(({ digest }) => digest),
      );
      const digest = createHash('sha256').update(config).digest('hex');
      member(`${digest}.json`, Buffer.from(config));
      return {
        id: `sha256:${digest}`,
        manifest: { Config: `${digest}.json`, RepoTags: [image.name], Layers: layers.map((layer) => layer.file) },
      };
    });
    member('manifest.json', Buffer.from(JSON.stringify(described.map(({ manifest }) => manifest))));
    write(endOfArchive);
    isComplete = true;
    return described.map(({ id }) => id);
  } finally {
    closeSync(file);
    if (isComplete) renameSync(scratch, archiveFile);
    else rmSync(scratch, { force: true });
  }
}
