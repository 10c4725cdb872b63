import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { group, idLabel, kinds, version } from '#resources/kinds';
import { presentations } from '#resources/presentation';
import { policyIdLabel, policyNameLabel, policyRevisionLabel } from '#resources/revision-labels';
import { generate } from '../generate/custom-resources.ts';
import { renderDefinition, resourceStructure } from './render-definition.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { type Field, fieldsOf } from './walk-schema.ts';

// The rows of docs/api-conventions.md that a program can check; each test names its row.

type Key = keyof typeof kinds;
const keys = Object.keys(kinds) as Key[];
const schemas = new Map(keys.map((key) => [key, resourceStructure(key)]));
const schemaOf = (key: Key): StructuralSchema => schemas.get(key) ?? { type: 'object' };
const fields = (key: Key, part?: 'spec' | 'status'): readonly Field[] =>
  fieldsOf(schemaOf(key)).filter(({ path }) => part === undefined || path === part || path.startsWith(`${part}.`));
const paths = (found: readonly Field[]): readonly string[] => found.map(({ path }) => path);
const versionOf = (key: Key) => {
  const [only, ...others] = renderDefinition(key).spec.versions;
  if (only === undefined || others.length > 0) throw new TypeError('a kind has one version');
  return only;
};

/** A part of the definition is the same for each rule of a section and list, so that it is listed only once. */
function distinct(found: readonly Field[]): readonly string[] {
  return [
    ...new Set(
      paths(found).map((path) =>
        path.replace(/definition\.(?:(?:request|response)\.(?:baseline|additional)|shared)\[\]/, 'rule'),
      ),
    ),
  ];
}

describe.each(keys)('%s', (key) => {
  test('row 2 of the API conventions: a kind has only spec and status besides its metadata', () => {
    expect(['spec', 'spec,status']).toContain(Object.keys(schemaOf(key).properties ?? {}).join());
    expect(schemaOf(key).required).toEqual(['spec']);
  });

  test('row 4 of the API conventions: a kind with a status has the status subresource', () => {
    expect('subresources' in versionOf(key)).toBe(schemaOf(key).properties?.status !== undefined);
  });

  test('row 5 of the API conventions: every member of the status is optional', () => {
    expect(schemaOf(key).properties?.status?.required ?? []).toEqual([]);
  });

  test('row 6 of the API conventions: conditions come first, are a map by type and have the six members', () => {
    const status = schemaOf(key).properties?.status;
    if (status === undefined) return;
    const [first] = Object.keys(status.properties ?? {});
    const conditions = status.properties?.conditions;
    expect(first).toBe('conditions');
    expect(conditions).toMatchObject({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
    const six = ['type', 'status', 'observedGeneration', 'lastTransitionTime', 'reason', 'message'];
    expect(conditions?.items?.required).toEqual(six);
    expect(conditions?.items?.properties).toMatchObject({
      status: { enum: ['True', 'False', 'Unknown'] },
      reason: { minLength: 1, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      lastTransitionTime: { format: 'date-time' },
    });
  });

  test('row 11 of the API conventions: required members exist, and no member has a default', () => {
    for (const { path, schema } of fields(key)) {
      expect(Object.keys(schema.properties ?? {}), path).toEqual(expect.arrayContaining([...(schema.required ?? [])]));
      expect(schema, path).not.toHaveProperty('default');
    }
  });

  test('row 12 of the API conventions: every text, number and list has its limits', () => {
    const limitsOf: Readonly<Record<StructuralSchema['type'], (schema: StructuralSchema) => readonly unknown[]>> = {
      string: (schema) => [schema.enum ?? schema.maxLength],
      integer: (schema) => [schema.minimum, schema.maximum],
      array: (schema) => [schema.maxItems],
      object: () => [],
      boolean: () => [],
    };
    const open = fields(key).filter(({ schema }) => limitsOf[schema.type](schema).includes(undefined));
    expect(paths(open)).toEqual([]);
  });

  test('row 13 of the API conventions: every list has a list type, and there are no maps', () => {
    for (const { path, schema } of fields(key)) {
      if (schema.type === 'array') expect(['atomic', 'map'], path).toContain(schema['x-kubernetes-list-type']);
      if (schema.type === 'object') expect(schema.properties, path).toBeDefined();
      expect(schema, path).not.toHaveProperty('additionalProperties');
    }
  });

  test('row 14 of the API conventions: numbers are integers of 32 or 64 bits and fit into a double', () => {
    for (const { path, schema } of fields(key).filter((field) => field.schema.type === 'integer')) {
      expect(['int32', 'int64'], path).toContain(schema.format);
      expect(Math.abs(schema.maximum ?? Infinity), path).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
    }
  });

  test('row 16 of the API conventions: no member is nullable', () => {
    for (const { path, schema } of fields(key)) expect(schema, path).not.toHaveProperty('nullable');
  });

  test('row 17 of the API conventions: names of durations contain their unit, and times have time names', () => {
    for (const { name, path, schema } of fields(key)) {
      if (/duration|timeout|deadline|interval/i.test(name)) expect(name, path).toMatch(/(Ms|Seconds|Milliseconds)$/);
      if (schema.format === 'date-time') expect(name, path).toMatch(/^time$|Time$/);
      expect(name, path).not.toMatch(/timestamp$/i);
    }
  });

  test('row 18 of the API conventions: names are written in camel case', () => {
    // A2A is the name of a protocol.
    const odd = fields(key).filter(({ name }) => !/^(|a2a|[a-z]+([A-Z][a-z0-9]+)*)$/.test(name));
    expect(paths(odd).filter((path) => !path.startsWith('spec.guardrail.headers.x-ap-gr-'))).toEqual([]);
  });

  test('row 20 of the API conventions: members of one alternative of a union have a rule', () => {
    const optional = fields(key, 'spec').filter(({ name, parent }) => name !== '' && !parent?.required?.includes(name));
    const free = optional.filter(({ name, parent }) => {
      const rules = parent?.['x-kubernetes-validations'] ?? [];
      // A rule about a change does not concern the members of a new object.
      const ofUnions = rules.filter(({ rule }) => !rule.includes('oldSelf'));
      return !ofUnions.some(({ rule }) => rule.includes(`has(self.${name})`));
    });
    expect(distinct(free).filter((path) => path !== 'spec')).toEqual(freelyOptional[key]);
  });

  test('row 22 of the API conventions: every rule has a message, a reason and an existing member', () => {
    for (const { path, schema } of fields(key)) {
      for (const { rule, message, reason, fieldPath } of schema['x-kubernetes-validations'] ?? []) {
        expect(message, `${path}: ${rule}`).toMatch(/^.{10,}$/);
        expect(reason).toMatch(/^FieldValue(Invalid|Forbidden)$/);
        if (fieldPath === undefined) continue;
        const found = fieldPath
          .slice(1)
          .split('.')
          .reduce<StructuralSchema | undefined>((node, name) => node?.properties?.[name], schema);
        expect(found, `${path}${fieldPath}`).toBeDefined();
      }
    }
  });

  test('row 24 of the API conventions: the schema is structural', () => {
    const allowed = new Set([
      ...['description', 'type', 'format', 'enum', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
      ...['minItems', 'maxItems', 'items', 'properties', 'required', 'x-kubernetes-list-type'],
      ...['x-kubernetes-list-map-keys', 'x-kubernetes-map-type', 'x-kubernetes-validations'],
    ]);
    for (const { path, schema } of [{ path: '', schema: schemaOf(key) }, ...fields(key)]) {
      expect(
        Object.keys(schema).filter((word) => !allowed.has(word)),
        path,
      ).toEqual([]);
      expect(schema.type, path).toBeDefined();
    }
  });

  test('row 25 of the API conventions: the columns show Ready and Reason first, then facts, then the age', () => {
    const { columns, status } = presentations[key];
    const shown = columns.filter(({ priority }) => priority === undefined).map(({ name }) => name);
    if (status !== undefined) expect(shown.slice(0, 2)).toEqual(['Ready', 'Reason']);
    expect(shown.at(-1)).toBe('Age');
    expect(shown.length).toBeLessThanOrEqual(8);
    expect(columns.every(({ description }) => description.endsWith('.'))).toBe(true);
  });

  test('row 26 of the API conventions: kinds share one category and have unique short names', () => {
    const { categories, shortNames } = renderDefinition(key).spec.names;
    expect(categories).toEqual(['portcullis']);
    expect(shortNames.length).toBeGreaterThan(0);
    for (const name of shortNames) expect(builtinShortNames).not.toContain(name);
  });

  test('row 27 of the API conventions: a kind has at most eight selectable fields, each a single value', () => {
    const { selectableFields } = presentations[key];
    expect(selectableFields.length).toBeGreaterThan(0);
    expect(selectableFields.length).toBeLessThanOrEqual(8);
    const single = fields(key).filter(({ schema }) => ['string', 'integer', 'boolean'].includes(schema.type));
    for (const path of selectableFields) expect(paths(single)).toContain(path.slice(1));
  });

  test('row 28 of the API conventions: no kind has a scale subresource, because no kind owns its processes alone', () => {
    expect(JSON.stringify(versionOf(key))).not.toContain('"scale"');
  });

  test('row 30 of the API conventions: a kind has one version, served and stored, without conversion', () => {
    expect(versionOf(key)).toMatchObject({ name: 'v1alpha1', served: true, storage: true });
    expect(renderDefinition(key).spec.conversion).toEqual({ strategy: 'None' });
  });

  test('row 32 of the API conventions: lists of the status do not grow with other objects', () => {
    const lists = fields(key, 'status').filter(({ schema }) => schema.type === 'array');
    for (const { path, schema } of lists) expect(schema.maxItems, path).toBeLessThanOrEqual(64);
  });

  test('row 35 of the API conventions: every field has a description that begins with its name', () => {
    expect(schemaOf(key).description).toMatch(new RegExp(`^${kinds[key].kind} `));
    for (const { name, path, schema } of fields(key)) {
      if (name === '') continue;
      expect(schema.description?.startsWith(`${name} `), `${path}: ${schema.description}`).toBe(true);
      expect(schema.description, path).toMatch(/\.$/);
    }
  });
});

/**
 * Members of a spec that may be absent in every alternative. Without strict validation the API server silently drops a
 * misspelt member, so this list must not contain a member whose absence weakens protection.
 */
const freelyOptional: Readonly<Record<Key, readonly string[]>> = {
  guardrailPolicy: [
    'spec.definition.shared',
    'spec.rule.stopList.fold',
    'spec.rule.stopList.stem',
    'spec.rule.stopList.allow',
    'spec.rule.regex.checksum',
    'spec.rule.regex.fold',
    'spec.rule.regex.allow',
    'spec.refusalText',
    'spec.tests',
    'spec.change',
  ],
  policyRevision: ['spec.author', 'spec.message', 'spec.refusalText', 'spec.purgeTime'],
  modelBinding: [
    'spec.extraRequestKeys',
    'spec.judge',
    'spec.unjudged',
    'spec.streaming',
    'spec.longConversations',
    'spec.apply',
  ],
  runtimeWorkload: [],
  gatewayRoute: [
    'spec.workload',
    'spec.upstream.credential',
    'spec.judge',
    'spec.unjudged',
    'spec.streaming',
    'spec.longConversations',
    'spec.refused',
  ],
  gatewayReport: [
    'spec.providers',
    'spec.providers[].model',
    'spec.providers[].workload',
    'spec.providers[].rule',
    'spec.providers[].cause',
    'spec.agents',
  ],
  collection: [
    'spec.parent',
    'spec.description',
    'spec.retrievalDefaults',
    'spec.retrievalDefaults.mode',
    'spec.retrievalDefaults.results',
    'spec.retrievalDefaults.rerankProfile',
    'spec.emptyAclPolicy',
  ],
  agentVersion: [
    'spec.lowCode.subflows',
    'spec.limits',
    'spec.limits.requestBytes',
    'spec.limits.timeoutMs',
    'spec.limits.concurrency',
  ],
  agent: ['spec.keep', 'spec.cards'],
  agentRoute: [
    'spec.served',
    'spec.canary',
    'spec.versions[].cardDigest',
    'spec.versions[].guardrails',
    'spec.versions[].sdk',
    'spec.versions[].sdk.tool',
    'spec.refused',
  ],
};

/** The resources that `kubectl api-resources` of Kubernetes 1.36 lists. */
const builtinShortNames =
  'bs cm cs ep ev events limits no ns po pv pvc quota rc sa svc crd crds deploy ds rs sts hpa cj csr ing netpol pc pdb sc vap'.split(
    ' ',
  );

test('row 15 of the API conventions: few members are booleans, and enumeration values are in camel case except on the wire', () => {
  const all = keys.flatMap((key) => fields(key).map((field) => ({ ...field, path: `${key}.${field.path}` })));
  const switches = all.filter(({ schema }) => schema.type === 'boolean');
  expect(distinct(switches)).toEqual([
    'guardrailPolicy.spec.rule.stopList.caseSensitive',
    'guardrailPolicy.spec.rule.regex.caseSensitive',
    'modelBinding.status.pinned.checks.division.allowed',
    'gatewayRoute.spec.guardrail.streaming.allowed',
    'gatewayRoute.spec.guardrail.division.allowed',
    'gatewayReport.spec.ready',
  ]);
  const lower = all.filter(({ schema }) => schema.enum?.some((value) => !/^[A-Z][A-Za-z0-9]*$/.test(value)));
  // The values of `judge` are lower-case, because they are names of members of the OpenAI API (docs/decisions/0050).
  const isWire = (path: string): boolean => /\.rule\.|\.tests\[\]\.stage$|\.judge\[\]$|\.(reason|cause)$/.test(path);
  expect(distinct(lower).filter((path) => !isWire(path))).toEqual([]);
});

test('row 26 of the API conventions: no short name is used twice', () => {
  const names = Object.values(kinds).flatMap(({ shortNames, plural }) => [...shortNames, plural]);
  expect(new Set(names).size).toBe(names.length);
});

test('row 29 of the API conventions: Portcullis labels have its prefix and are written in lower case with dashes', () => {
  for (const label of [idLabel, policyIdLabel, policyNameLabel, policyRevisionLabel]) {
    expect(label).toMatch(/^portcullis\.dev\/[a-z]+(-[a-z]+)*$/);
  }
});

test('row 30 of the API conventions: the first version is an alpha version of the Portcullis group', () => {
  expect([group, version]).toEqual(['portcullis.dev', 'v1alpha1']);
});

test('row 31 of the API conventions: all definitions together take a small part of a Helm release', () => {
  const text = [...generate()].filter(([path]) => path.startsWith('charts/')).map(([, content]) => content);
  // Helm stores the chart as compressed JSON in base64, in a Secret of at most 1 MiB.
  const stored = Buffer.byteLength(gzipSync(JSON.stringify(text)).toString('base64'));
  expect(stored).toBeLessThan(64 * 1_024);
});
