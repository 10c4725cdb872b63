import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledSettings, compiledSources } from './compiled-sources.ts';
import { copiedFile, type Entry, folder, textFile } from './entry.ts';
import { productionPackages } from './production-packages.ts';
import { libraryPaths, systemLibrary } from './shared-libraries.ts';
import type { Image } from './write-image.ts';

export const defaultTag = 'dev';
export const imageName = `localhost/portcullis:${defaultTag}`;
/** Path of the checkout inside the image. */
export const imageHome = 'app';
/** The user id that images without a root user use by convention. */
const user = 65_532;

/** The production files of the checkout, without tests. */
const sourceFolders = ['cli', 'crds', 'libraries', 'dataplane', 'operator', 'runtime'].concat(
  // Examples that processes load.
  ['agents', 'guarded-chat', 'handbook', 'recipes'].map((name) => `examples/${name}`),
  // Pages that the console shows.
  'docs/runbooks',
);
const isProof = (path: string): boolean => /\.test\.ts$|(^|\/)(testing|testdata)(\/|$)/.test(path);
/** File names that only compilers, debuggers, people or runtimes other than Node read. */
const isSpare = (path: string): boolean => /\.(d\.[cm]?ts|map|md|markdown|bare)$/.test(path);

/** Prebuilt addons of packages for other systems are left out. */
const addon = /\.node$/;

function filesBelow(base: string, path: string): readonly string[] {
  return readdirSync(join(base, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(base.length + 1))
    .sort();
}

function sourceEntries(root: string): readonly Entry[] {
  const paths = sourceFolders.flatMap((path) => filesBelow(root, path)).filter((path) => !isProof(path));
  return ['package.json', 'LICENSE', ...paths].map((path) => copiedFile(`${imageHome}/${path}`, join(root, path)));
}

/** The files of the matching engine that Node loads; its sources and object files are fifty times as large. */
const engineFiles = ['package.json', 'LICENSE', 're2.js', 'build/Release/re2.node'];

function packageEntries(root: string, path: string): readonly Entry[] {
  const copied = (file: string): Entry => copiedFile(`${imageHome}/${file}`, join(root, file));
  if (path === 'node_modules/re2') {
    return engineFiles
      .map((file) => `${path}/${file}`)
      .filter((file) => existsSync(join(root, file)))
      .map(copied);
  }
  const nested = `${path}/node_modules/`;
  return filesBelow(root, path)
    .filter((file) => !file.startsWith(nested) && !isSpare(file))
    .filter((file) => !addon.test(file) || isForThisMachine(join(root, file)))
    .map(copied);
}

/**
 * The addon without debug symbols, which are most of its size. A stripped and an unstripped addon give the same bytes.
 */
function withoutSymbols(entry: Entry): Entry {
  if (entry.kind !== 'file' || !('source' in entry.content)) return entry;
  const scratch = mkdtempSync(join(tmpdir(), 'portcullis-image-'));
  try {
    execFileSync('strip', ['--strip-all', '-o', join(scratch, 'addon'), entry.content.source]);
    return { ...entry, content: { bytes: readFileSync(join(scratch, 'addon')) } };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const isAddon = ({ path }: Entry): boolean => addon.test(path);

/** Node of this machine, the shared libraries of Node and the addon, and the files that the C library reads. */
function baseEntries(addons: readonly string[]): readonly Entry[] {
  const node = process.execPath;
  return [
    folder('tmp', 0o1777),
    textFile('etc/passwd', `root:x:0:0:root:/:/sbin/nologin\nnonroot:x:${user}:${user}:nonroot:/tmp:/sbin/nologin\n`),
    textFile('etc/group', `root:x:0:\nnonroot:x:${user}:\n`),
    textFile('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    copiedFile('usr/local/bin/node', node, 0o755),
    ...libraryPaths([node, ...addons]).map(systemLibrary),
  ];
}

/**
 * The platform image of this checkout: every process of the platform, started as `node FILE` by the container's
 * arguments.
 */
export function portcullisImage(root: string, tag = defaultTag): Image {
  const packages = productionPackages(root).flatMap((path) => packageEntries(root, path));
  const addons = packages.filter(isAddon).flatMap((entry) => {
    return entry.kind === 'file' && 'source' in entry.content ? [entry.content.source] : [];
  });
  return {
    name: `localhost/portcullis:${tag}`,
    layers: [
      baseEntries(addons),
      packages.map((entry) => (isAddon(entry) ? withoutSymbols(entry) : entry)),
      [...sourceEntries(root), ...compiledSources(root, imageHome, user)],
    ],
    user: `${user}:${user}`,
    workingFolder: `/${imageHome}`,
    entrypoint: ['/usr/local/bin/node'],
    command: ['cli/main.ts', '--help'],
    environment: { PATH: '/usr/local/bin', NODE_ENV: 'production', HOME: '/tmp', ...compiledSettings(imageHome) },
  };
}

const headBytes = 20;
const magic = 0x7f454c46;
const machineOffset = 18;

/** The machine type in the head of an ELF file; undefined for every other file. */
function machineTypeOf(path: string): number | undefined {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(headBytes);
    if (readSync(file, head, 0, headBytes, 0) < headBytes || head.readUInt32BE(0) !== magic) return undefined;
    return head.readUInt16LE(machineOffset);
  } finally {
    closeSync(file);
  }
}

const ownType = machineTypeOf(process.execPath);

/** Whether an addon was built for the system and the processor of this Node. */
function isForThisMachine(path: string): boolean {
  return machineTypeOf(path) === ownType;
}
