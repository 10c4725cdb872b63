import { describe, expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import { resourceStructure } from '../../hack/crds/render-definition.ts';
import { type Edge, edgesOf } from './edges.ts';
import { fullObjects } from './full-objects.ts';
import { judgeOurselves } from './judge-ourselves.ts';
import { type ApiServerResponse, collection, item, useTestApi } from './test-api.ts';

type Key = keyof typeof kinds;
const keys = Object.keys(kinds) as Key[];

/** The response section has the schema of the request section. */
const isRepeated = ({ title }: Edge): boolean => title.startsWith('spec.definition.response.');

function edges(key: Key, part: 'spec' | 'status'): readonly Edge[] {
  const schema = resourceStructure(key).properties?.[part];
  if (schema === undefined || !(part in fullObjects[key])) return [];
  return edgesOf(fullObjects[key], schema, [part]).filter((edge) => !isRepeated(edge));
}

const withStatus = keys.filter((key) => 'status' in fullObjects[key]);

describe('the limits of every field in TypeScript', () => {
  test.each(keys)('TypeScript validation accepts each field of %s at its limits and refuses it beyond them', (key) => {
    const all = [...edges(key, 'spec'), ...edges(key, 'status')];
    const wrong = all.filter(
      ({ object, allowed }) => allowed !== undefined && (judgeOurselves(object as Resource) === undefined) !== allowed,
    );
    expect(wrong.map(({ title }) => title)).toEqual([]);
    expect(all.length).toBeGreaterThan(50);
  });
});

describe('the API server agrees with the TypeScript validation', () => {
  const api = useTestApi();

  /** A message for each limit at which the API server and the schema disagree. */
  async function differences(all: readonly Edge[], send: (object: Resource) => Promise<ApiServerResponse>) {
    const found: string[] = [];
    for (const { title, object } of all) {
      const own = judgeOurselves(object as Resource);
      const { status, body } = await send(object as Resource);
      const isTaken = status >= 200 && status < 300;
      if (!isTaken && status !== 400 && status !== 422) found.push(`${title}: answered ${status}: ${body.message}`);
      if (isTaken !== (own === undefined)) found.push(`${title}: ${own ?? `taken, but ${body.message}`}`);
    }
    return found;
  }

  test.each(keys)('the API server and TypeScript agree on every limit in the spec of %s', async (key) => {
    const path = collection(kinds[key].plural, 'fieldValidation=Strict&dryRun=All');
    expect(await differences(edges(key, 'spec'), (body) => api.send('POST', path, { body }))).toEqual([]);
  });

  test.each(withStatus)('the API server and TypeScript agree on every limit in the status of %s', async (key) => {
    const { plural } = kinds[key];
    const { status: _, ...plain } = fullObjects[key] as Resource;
    const created = await api.send('POST', collection(plural), { body: plain });
    expect(created.status, created.body.message).toBe(201);
    const path = item(plural, `${plain.metadata.name}/status`, 'fieldValidation=Strict&dryRun=All');
    const send = ({ status }: Resource) => api.send('PUT', path, { body: { ...created.body, status } });
    expect(await differences(edges(key, 'status'), send)).toEqual([]);
  });
});
