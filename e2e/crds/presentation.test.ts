import { describe, expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import { presentations } from '#resources/presentation';
import { resourceStructure } from '../../hack/crds/render-definition.ts';
import type { StructuralSchema } from '../../hack/crds/structural-schema.ts';
import { fullObjects } from './full-objects.ts';
import { collection, item, testNamespace, useTestApi } from './test-api.ts';

type Key = keyof typeof kinds;
const keys = Object.keys(kinds) as Key[];
const id = '01990000-0000-7000-8000-000000000001';

/** The description of every field by its path. */
function descriptions(schema: StructuralSchema, at: string): ReadonlyMap<string, string> {
  const own: [string, string][] = schema.description === undefined ? [] : [[at, schema.description]];
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    ...descriptions(member, at === '' ? name : `${at}.${name}`),
  ]);
  const items = schema.items === undefined ? [] : [...descriptions({ ...schema.items, description: '' }, at)];
  return new Map([...items.filter(([path]) => path !== at), ...inner, ...own]);
}

describe('kubectl', () => {
  const api = useTestApi();
  const get = (...args: readonly string[]): Promise<string> =>
    api.kubectlOk(['get', `--namespace=${testNamespace}`, ...args]);

  /** One object of each kind, with its status. */
  async function createAll(): Promise<void> {
    for (const key of keys) {
      const { plural } = kinds[key];
      const { status, ...object } = fullObjects[key] as (typeof fullObjects)['modelBinding'];
      const labelled = { ...object, metadata: { ...object.metadata, labels: { 'portcullis.dev/id': id } } };
      const created = await api.send('POST', collection(plural), { body: labelled });
      if (created.status === 409 || status === undefined) continue;
      const path = item(plural, `${object.metadata.name}/status`);
      expect(await api.send('PUT', path, { body: { ...created.body, status } })).toMatchObject({ status: 200 });
    }
  }

  test('kubectl get prints the columns of each kind', async () => {
    await createAll();
    const tables: string[] = [];
    for (const { plural } of Object.values(kinds)) {
      for (const args of [[plural], [plural, '--output=wide']]) {
        // The age differs from run to run, and with it the width of its column.
        const table = (await get(...args)).replaceAll(/ \d+s( |$)/gm, ' 0s$1').replaceAll(/ {2,}/g, '  ');
        tables.push(`$ kubectl get ${args.join(' ')}\n${table}`);
      }
    }
    await expect(tables.join('\n')).toMatchFileSnapshot('testdata/columns.txt');
  });

  test('kubectl finds all kinds by category, and each by its short names', async () => {
    await createAll();
    const all = await get('portcullis', '--output=name');
    expect(all.trim().split('\n')).toHaveLength(keys.length);
    for (const { plural, shortNames } of Object.values(kinds)) {
      for (const short of shortNames) {
        expect(await get(short, '--output=name')).toMatch(/^\w+\.portcullis\.dev\//);
        expect(await get(short, '--output=name')).toBe(await get(plural, '--output=name'));
      }
    }
  });

  test.each(keys)('kubectl selects %s by their fields', async (key) => {
    await createAll();
    const { plural } = kinds[key];
    for (const path of presentations[key].selectableFields) {
      const field = path.slice(1);
      const value = field
        .split('.')
        .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], fullObjects[key]);
      const select = (text: string) => get(plural, '--output=name', `--field-selector=${field}=${text}`);
      expect(await select(String(value)), field).toContain('.portcullis.dev/');
      expect(await select('another'), field).toBe('');
    }
  });

  test('kubectl explain describes each field', async () => {
    const { body } = await api.send('GET', '/openapi/v3/apis/portcullis.dev/v1alpha1');
    const { schemas } = (body as { components: { schemas: Record<string, StructuralSchema> } }).components;
    for (const key of keys) {
      const published = Object.entries(schemas).find(([name]) => name.endsWith(`.${kinds[key].kind}`))?.[1];
      const wanted = descriptions(resourceStructure(key), '');
      const found = descriptions(published as StructuralSchema, '');
      expect(wanted.size).toBeGreaterThan(5);
      for (const [path, text] of wanted) expect(found.get(path), `${kinds[key].kind} ${path}`).toBe(text);
    }
  });

  test.each([
    ['guardrailpolicy', 'GuardrailPolicy is a named set of rules'],
    ['guardrailpolicy.spec.definition.request.baseline.stopList.match', 'match says whether a term may be a part'],
    ['gp.spec.tests.expect', 'expect is the expected decision.'],
    ['modelbinding.spec.guardrail', 'guardrail names the policy revision that guards the model'],
    ['mb.status.applications.outcome', 'outcome is Applied or Failed. A failure because of a missing dependency'],
    ['gatewayreport.spec.appliedThrough', 'appliedThrough is the resource version'],
  ])('kubectl explain %s prints the description of the field', async (path, text) => {
    expect((await api.kubectlOk(['explain', path])).replaceAll(/\s+/g, ' ')).toContain(text);
  });

  test('without strict validation a misspelt field is dropped with a warning', async () => {
    const object = { ...fullObjects.guardrailPolicy, metadata: { name: 'lax' } };
    const misspelt = { ...object, spec: { ...object.spec, tets: [] } };
    const strict = await api.send('POST', collection('guardrailpolicies'), { body: misspelt });
    expect(strict).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('unknown field "spec.tets"') },
    });
    const lax = await api.send('POST', collection('guardrailpolicies', 'fieldValidation=Ignore'), { body: misspelt });
    expect(lax.status).toBe(201);
    expect(lax.body.spec).not.toHaveProperty('tets');
    const bare = `--namespace=${testNamespace}`;
    const file = { ...misspelt, metadata: { name: 'applied' } };
    for (const args of [
      ['apply', bare],
      ['apply', '--server-side', bare],
      ['create', bare],
    ]) {
      const { code, stderr } = await api.kubectl([...args, '--filename=-'], JSON.stringify(file));
      expect(code, args.join(' ')).not.toBe(0);
      expect(stderr).toMatch(/tets/);
    }
  });
});
