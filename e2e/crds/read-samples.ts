import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Resource } from '#resources/metadata';
import { root } from '../../hack/check/run-tool.ts';

/**
 * A file of crds/samples and its header lines: the component that refuses it (`by`), the message (`expect`), the
 * TypeScript validation (`schema`), or the object (`subject`) and its condition.
 */
type Sample = {
  readonly name: string;
  readonly objects: readonly Resource[];
  readonly says: (word: 'expect' | 'schema' | 'by' | 'subject' | 'condition') => string;
};

const folder = join(root, 'crds/samples');

/** All samples of a folder, by name. */
export function readSamples(kind: 'valid' | 'invalid'): readonly Sample[] {
  const names = readdirSync(join(folder, kind)).filter((name) => name.endsWith('.yaml'));
  return names.sort().map((name) => {
    const text = readFileSync(join(folder, kind, name), 'utf8');
    const objects = parseAllDocuments(text).map((document) => document.toJS() as Resource);
    return { name, objects, says: (word) => new RegExp(`^# ${word}: (.*)$`, 'm').exec(text)?.[1] ?? '' };
  });
}
