import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '#contracts/canonical';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type CatalogueWorld, openCatalogue } from '../../dataplane/catalogue/testing/open-catalogue.ts';
import { breakingChanges } from '../../hack/openapi/breaking-changes.ts';
import { verifies } from '../support/verifies.ts';

type Document = { readonly [member: string]: unknown };

/** SHA-256 of the served documents. Consumers pin the digest: a change of the digest is a change of the contract. */
const pinned = {
  v1: 'd5d3836caa0b33eceac936d133a7e325bbfa090c50d71b68f7bfcdb240975b25',
  v2: '961b071f7b70f0f32fe4cdd5f286dd63b005d2bdc623177da96fe1801878920d',
};

/** The contract of the last release, which present documents must keep. */
function released(version: 'v1' | 'v2'): Document {
  const path = join(import.meta.dirname, 'contract', `catalogue-${version}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as Document;
}

function edited(document: Document, edit: (copy: never) => void): Document {
  const copy = structuredClone(document);
  edit(copy as never);
  return copy;
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the documents of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  const served = async (version: 'v1' | 'v2'): Promise<{ readonly text: string; readonly json: Document }> => {
    const answer = await fetch(`${world.url}/api/${version}/openapi.json`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    const text = await answer.text();
    return { text, json: JSON.parse(text) as Document };
  };

  beforeAll(async () => {
    world = parts.use(await openCatalogue());
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    [
      'catalogue:version:openapi',
      'catalogue:version:json-schema',
      'catalogue:version:contract',
      'catalogue:version:state',
      'catalogue:version:release',
      'catalogue:version:later-plan',
    ],
    'each version of the API serves its OpenAPI 3.1.2 document with the same operations',
    async () => {
      for (const [version, release] of [
        ['v1', '2026.3.3'],
        ['v2', '2026.3.5'],
      ] as const) {
        const { json } = await served(version);
        expect(json).toMatchObject({
          openapi: '3.1.2',
          jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
          info: { version: '0.1-draft', 'x-state': 'proposed', 'x-release': release },
        });
        expect(Object.keys(json['paths'] as object).toSorted()).toEqual([
          `/api/${version}/agents`,
          `/api/${version}/agents/search`,
          `/api/${version}/agents/{agentId}`,
          '/health/live',
          '/health/ready',
        ]);
        const operations = Object.entries(
          json['paths'] as Readonly<Record<string, Readonly<Record<string, Document>>>>,
        );
        const rights = operations.flatMap(([path, item]) =>
          Object.values(item).flatMap((operation) => (operation['x-right'] ? [[path, operation['x-right']]] : [])),
        );
        expect(Object.fromEntries(rights)).toEqual({
          [`/api/${version}/agents`]: 'view',
          [`/api/${version}/agents/search`]: 'invoke',
          [`/api/${version}/agents/{agentId}`]: 'view',
        });
        const { schemas } = json['components'] as { readonly schemas: Readonly<Record<string, object>> };
        const ajv = new Ajv2020({ strict: false, validateFormats: false });
        for (const schema of Object.values(schemas)) expect(ajv.validateSchema(schema)).toBe(true);
      }
    },
  );

  verifies(
    ['catalogue:openapi-pin:sha256'],
    'the served OpenAPI documents have the pinned digests, and any change yields another digest',
    async () => {
      for (const version of ['v1', 'v2'] as const) {
        const { text } = await served(version);
        expect([version, sha256Hex(text)]).toEqual([version, pinned[version]]);
        expect(sha256Hex(text.replace('0.1-draft', '0.2-draft'))).not.toBe(pinned[version]);
      }
    },
  );

  verifies(
    ['catalogue:openapi-pin:differences', 'catalogue:compatibility:incompatible-change'],
    'the served OpenAPI documents keep every operation and member of the released ones',
    async () => {
      for (const version of ['v1', 'v2'] as const) {
        expect([version, breakingChanges(released(version), (await served(version)).json)]).toEqual([version, []]);
      }
    },
  );
});

type Edit = (copy: {
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, { properties: Record<string, unknown>; required: string[] }> };
  security: unknown;
}) => void;

const list = '/api/v1/agents';
const refused: readonly (readonly [string, Edit, string])[] = [
  ['a path', ({ paths }) => void delete paths[list], `GET ${list}: is gone`],
  [
    'a field of a record',
    ({ components }) => void delete components.schemas['Agent']?.properties['owner'],
    'schema Agent.owner: is gone',
  ],
  [
    'the promise of a field',
    ({ components }) => void components.schemas['Agent']?.required.splice(0, 1),
    'schema Agent.agentId: is optional now',
  ],
  [
    'the security of an operation',
    ({ paths }) => {
      const operation = paths[list]?.['get'];
      if (operation !== undefined) operation['security'] = [];
    },
    `GET ${list}: security differs`,
  ],
  [
    'the right of an operation',
    ({ paths }) => {
      const operation = paths[list]?.['get'];
      if (operation !== undefined) operation['x-right'] = 'invoke';
    },
    `GET ${list}: x-right differs`,
  ],
  [
    'an operation with a right to one without it',
    ({ paths }) => void delete paths[`${list}/search`]?.['post']?.['x-right'],
    `POST ${list}/search: x-right differs`,
  ],
  [
    'the security',
    (copy) => {
      copy.security = [];
    },
    'security: differs',
  ],
  [
    'a required member of a request',
    ({ components }) => void components.schemas['SearchAgentsRequest']?.required.push('topK'),
    'schema SearchAgentsRequest.topK: is required now',
  ],
  [
    'a parameter',
    ({ paths }) => {
      const operation = paths[list]?.['get'];
      if (operation !== undefined) operation['parameters'] = (operation['parameters'] as unknown[]).slice(1);
    },
    `GET ${list}: parameter query workspaceId is gone`,
  ],
  [
    'a status',
    ({ paths }) => {
      const responses = paths[list]?.['get']?.['responses'] as Record<string, unknown>;
      delete responses['503'];
    },
    `GET ${list}: status 503 is gone`,
  ],
  [
    'a header of an answer',
    ({ paths }) => {
      const responses = paths[list]?.['get']?.['responses'] as Record<string, Record<string, unknown>>;
      delete responses['200']?.['headers'];
    },
    `GET ${list}: header traceparent of status 200 is gone`,
  ],
  [
    'the schema of a body',
    ({ paths }) => {
      const operation = paths[`${list}/search`]?.['post'] as { requestBody: { content: Record<string, unknown> } };
      operation.requestBody.content = { 'application/json': { schema: { $ref: '#/components/schemas/Agent' } } };
    },
    `POST ${list}/search: the body differs`,
  ],
  [
    'the default of a parameter',
    ({ paths }) => {
      const parameters = paths[list]?.['get']?.['parameters'] as { name: string; schema: Record<string, unknown> }[];
      const limit = parameters.find(({ name }) => name === 'limit');
      if (limit !== undefined) limit.schema['default'] = 10;
    },
    `GET ${list}: parameter query limit: default differs`,
  ],
  [
    'the length of a list in a request',
    ({ components }) => {
      const protocols = components.schemas['SearchAgentsRequest']?.properties['protocols'] as Record<string, unknown>;
      protocols['minItems'] = 1;
    },
    'schema SearchAgentsRequest.protocols: minItems is stricter',
  ],
  [
    'a member of a request by another keyword',
    ({ components }) => {
      const query = components.schemas['SearchAgentsRequest']?.properties['query'] as Record<string, unknown>;
      query['not'] = { pattern: '[?]' };
    },
    'schema SearchAgentsRequest.query: not differs',
  ],
  [
    'the members of a record that are not named',
    ({ components }) => {
      const agent = components.schemas['Agent'] as Record<string, unknown> | undefined;
      if (agent !== undefined) agent['additionalProperties'] = true;
    },
    'schema Agent: additionalProperties differs',
  ],
  [
    'the members of a list',
    ({ components }) => {
      const skills = components.schemas['Agent']?.properties['skills'] as Record<string, unknown>;
      delete skills['items'];
    },
    'schema Agent.skills[]: is gone',
  ],
];

test.each(refused)('an OpenAPI document that changes %s is refused', (_what, edit, finding) => {
  const document = released('v1');
  expect(breakingChanges(document, edited(document, edit as never))).toContain(finding);
});

test('an OpenAPI document that names the rights of a release without them is accepted', () => {
  const document = released('v1');
  const unnamed = edited(
    document,
    (({ paths }) => void delete paths[list]?.['get']?.['x-right']) satisfies Edit as never,
  );
  expect(breakingChanges(unnamed, document)).toEqual([]);
});

test('an OpenAPI document that only adds an optional parameter, a member of a record and a path is accepted', () => {
  const document = released('v1');
  const more = edited(document, ((copy) => {
    copy.paths['/api/v1/owners'] = { get: { responses: {} } };
    const operation = copy.paths[list]?.['get'];
    const parameters = (operation?.['parameters'] ?? []) as unknown[];
    parameters.push({ name: 'sort', in: 'query', required: false, schema: {} });
    const agent = copy.components.schemas['Agent'];
    if (agent !== undefined) agent.properties['homepage'] = { type: 'string' };
  }) satisfies Edit as never);
  expect(breakingChanges(document, more)).toEqual([]);
});

test.each([
  ['an alternative that another one replaces', [{ type: 'integer' }, { type: 'null' }], ['.anyOf[0]: type differs']],
  ['an alternative that is gone', [{ type: 'string' }], [': anyOf differs']],
  ['another description', [{ type: 'string', description: 'A day.' }, { type: 'null' }], []],
])(
  'the comparison of a schema with alternatives reports only changes that break a client: %s',
  (_what, anyOf, findings) => {
    const document = (day: object) => ({ components: { schemas: { Day: { properties: { day } } } } });
    const former = document({ anyOf: [{ type: 'string' }, { type: 'null' }] });
    expect(breakingChanges(former, document({ anyOf }))).toEqual(findings.map((one) => `schema Day.day${one}`));
  },
);
