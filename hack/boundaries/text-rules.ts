import { posix } from 'node:path';
import { isInside } from './modules.ts';
import { lineOf } from './scan-source.ts';
import type { BoundaryFinding, BoundaryRule, SourceFile, Tree } from './tree.ts';

function matches(source: SourceFile, pattern: RegExp, message: string, text = source.code): readonly BoundaryFinding[] {
  return [...text.matchAll(pattern)].map((match) => ({
    path: source.path,
    message: `line ${lineOf(text, match.index)}: ${message}`,
  }));
}

function rule(name: string, applies: (source: SourceFile) => boolean, pattern: RegExp, message: string): BoundaryRule {
  return {
    name,
    check: (tree) => [...tree.sources.values()].filter(applies).flatMap((source) => matches(source, pattern, message)),
  };
}

const inside = (source: SourceFile, ...folders: readonly string[]): boolean =>
  folders.some((folder) => isInside(source.path, folder));

const environment = rule(
  'the environment is read in config.ts only',
  (source) => !source.isTest && posix.basename(source.path) !== 'config.ts' && !inside(source, 'cli', 'hack', 'e2e'),
  /\bprocess\.env\b|\bprocess\s*\[|import\.meta\.env\b/g,
  'read the environment in config.ts and pass the value on',
);

const output = rule(
  'output is written by the logger, not by the console',
  (source) => !inside(source, 'cli', 'hack', 'e2e'),
  /\bconsole\s*\./g,
  'use a logger: the console belongs to cli, hack and e2e',
);

const untyped = rule(
  'the type any occurs in libraries/kube only',
  (source) => !inside(source, 'libraries/kube'),
  /[:<|&,(]\s*any\b(?!\s*[:(])|\bas\s+any\b|\bany\[\]|@ts-(?:ignore|nocheck|expect-error)\b/g,
  'name the type; unknown where it is not known',
);

const focused = rule(
  'no test file contains a focused test (.only)',
  (source) => source.isTest,
  /\b(?:test|it|describe|verifies)\.only\b/g,
  'a focused test hides all others',
);

const exits = rule(
  'no source file calls process.exit',
  (source) => !source.isTest && !inside(source, 'cli', 'hack', 'e2e', 'libraries/kit/process'),
  /\bprocess\s*\.\s*exit\s*\(/g,
  'let the event loop become empty; runMain sets the exit code',
);

/** Words that mark unfinished work, in comments and in code. */
const unfinished: BoundaryRule = {
  name: 'no file has a mark of unfinished work',
  check: (tree) =>
    [...tree.sources.values()]
      .filter((source) => !inside(source, 'hack/boundaries'))
      .flatMap((source) =>
        matches(
          source,
          /\b(?:TODO|FIXME|XXX|HACK)\b|not (?:yet )?implemented/g,
          'finish the work or remove the mark',
          source.text,
        ),
      ),
};

const places: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  {
    pattern: /(?<![\w.~-])\/(?:root|home\/[\w.-]+|Users\/[\w.-]+|work)\/(?=[\w.])/g,
    message: 'names a path of one machine',
  },
  { pattern: /[A-Z]:\\\\?Users\\/g, message: 'names a path of one machine' },
  {
    pattern: /\bregistry\.[a-z0-9-]+(?:\.[a-z]+)+|\b[a-z0-9.-]*(?:artifactory|npmmirror|pypi)\.[a-z.]{2,}/gi,
    message: 'names a registry host',
  },
  {
    pattern: /"resolved"\s*:\s*"http/g,
    message: 'holds the address of a registry: npm writes none with .npmrc of this checkout',
  },
];

function placeFindings(path: string, text: string): readonly BoundaryFinding[] {
  return places.flatMap(({ pattern, message }) =>
    [...text.matchAll(pattern)].map((match) => ({ path, message: `line ${lineOf(text, match.index)}: ${message}` })),
  );
}

const machines: BoundaryRule = {
  name: 'no file names a machine or a registry host',
  check: (tree: Tree) => [...tree.texts].flatMap(([path, text]) => placeFindings(path, text)),
};

/** Citations of texts that are not in this repository. Sections of public standards are allowed. */
const absentTexts: readonly { readonly pattern: RegExp; readonly named: string }[] = [
  { pattern: /\bDESIGN\b/g, named: 'a design page' },
  { pattern: /\bresearch\/[a-z-]+\.md\b/g, named: 'a research page' },
  { pattern: /\bspec\/[1-3]\b/g, named: 'a document of the contract' },
  { pattern: /\bdocuments? [1-3]\b(?!:|, line)/gi, named: 'a document of the contract' },
  { pattern: /\breadings? [0-9]/gi, named: 'a reading of the contract' },
  {
    pattern: /(?<!\b(?:RFC \d+|OpenID [\w .]+|W3C [\w ]+),? )(?:§ ?|\bsections? )[0-9]/gi,
    named: 'a section of such a text',
  },
];
/** A licence, test data and generated tables of the contract number their own parts. */
const numbersItself = /^LICENSE$|^examples\/|\.tsv$|(^|\/)testdata\/|^docs\/reference\/requirements\.md$/;

const citations: BoundaryRule = {
  name: 'no comment or document cites a text outside of the repository',
  check: ({ texts, sources }) =>
    [...texts]
      .filter(([path]) => !numbersItself.test(path) && !isInside(path, 'hack/boundaries'))
      .flatMap(([path, text]) =>
        absentTexts.flatMap(({ pattern, named }) =>
          [...(sources.get(path)?.comments ?? text).matchAll(pattern)].map((match) => ({
            path,
            message: `line ${lineOf(text, match.index)}: cites ${named}: name an obligation, an RFC or a page of docs/design`,
          })),
        ),
      ),
};

/** The marks that git writes around the two sides of a conflict. */
const conflicts: BoundaryRule = {
  name: 'no file has a conflict marker',
  check: ({ texts }) =>
    [...texts].flatMap(([path, text]) =>
      [...text.matchAll(/^(?:<{7} .*|>{7} .*|\|{7} .*|={7})$/gm)].map(({ index }) => ({
        path,
        message: `line ${lineOf(text, index)}: resolve the conflict and remove its markers`,
      })),
    ),
};

/** Phrases for which Kubernetes, HTTP, OAuth or PostgreSQL have a usual word (STYLE.md). */
const turns = new RegExp(
  `\\b(?:${[
    'goes on',
    '(?:is|are|was|were) given up',
    'whoever',
    'for want of',
    'of ours',
    '(?:that|which) is none',
    'comes? to be',
    'stands? aside',
    'mended',
    'thankful',
    // Cancelled, undone, retracted or withdrawn.
    '(?:taken|takes?|took) back',
    'lets? (?:it|them) go',
    // "No other" with a noun, or: does not prevent others.
    'no other one',
    'keeps? no other',
    // "Even", "and" or "including".
    'also (?:if|when|where|after|while|without)',
  ].join('|')})\\b`,
  'gi',
);

/**
 * A digest of the text of a migration is stored with each database, and the document of a release is kept as it was
 * published, so that neither ever changes.
 */
const neverChanges = (path: string): boolean => path.endsWith('.sql') || /(?:^|\/)contract\/[^/]+\.json$/.test(path);

const wording: BoundaryRule = {
  name: 'no text has a turn of speech for which the field has a word',
  check: ({ texts }) =>
    [...texts]
      .filter(([path]) => !numbersItself.test(path) && !neverChanges(path) && !isInside(path, 'hack/boundaries'))
      .flatMap(([path, text]) =>
        [...text.matchAll(turns)].map((match) => ({
          path,
          message: `line ${lineOf(text, match.index)}: write "${match[0]}" in plain words`,
        })),
      ),
};

export const textRules: readonly BoundaryRule[] = [
  environment,
  output,
  untyped,
  focused,
  exits,
  unfinished,
  machines,
  citations,
  conflicts,
  wording,
];
