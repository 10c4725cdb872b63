import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Resource } from '#crds/metadata';
import { findKind } from '#crds/schemas';
import { root } from '../../hack/check/run-tool.ts';
import { judgeOurselves } from './judge-ourselves.ts';
import { collection, useTestApi } from './test-api.ts';

const folder = join(root, 'crds/samples');

/** A sample, and what its first lines say about it: `expect` of the API server, `schema` of our own code. */
type Sample = {
  readonly name: string;
  readonly object: Resource;
  readonly expect: string;
  readonly schema: string;
  readonly by: string;
};

function readSamples(kind: 'valid' | 'invalid'): readonly Sample[] {
  const names = readdirSync(join(folder, kind)).filter((name) => name.endsWith('.yaml'));
  return names.sort().map((name) => {
    const text = readFileSync(join(folder, kind, name), 'utf8');
    const says = (word: string): string => new RegExp(`^# ${word}: (.*)$`, 'm').exec(text)?.[1] ?? '';
    const object = parse(text) as Resource;
    return { name, object, expect: says('expect'), schema: says('schema'), by: says('by') };
  });
}

const valid = readSamples('valid');
const invalid = readSamples('invalid');

const pluralOf = (object: Resource): string => findKind(object.kind)?.kind.plural ?? '';

describe('our own code', () => {
  test.each(valid)('takes $name', ({ object }) => {
    expect(judgeOurselves(object)).toBeUndefined();
  });
  test.each(invalid)('refuses $name', ({ object, schema }) => {
    expect(schema).not.toBe('');
    expect(judgeOurselves(object)).toContain(schema);
  });
});

describe('the API server', () => {
  const api = useTestApi();

  test.each(valid)('takes $name', async ({ object }) => {
    expect(await api.send('POST', collection(pluralOf(object)), { body: object })).toMatchObject({ status: 201 });
  });
  test.each(invalid)('refuses $name', async ({ object, expect: wanted }) => {
    const { status, body } = await api.send('POST', collection(pluralOf(object)), { body: object });
    expect(wanted).not.toBe('');
    expect(body.message).toContain(wanted);
    expect([400, 422]).toContain(status);
  });
});

test('every sample says what is expected of it', () => {
  expect(invalid.length).toBeGreaterThanOrEqual(45);
  expect(invalid.filter(({ by }) => by !== 'api-server' && by !== 'condition')).toEqual([]);
});
