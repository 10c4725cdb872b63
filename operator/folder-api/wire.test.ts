import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { samplePolicy } from '#kube/testing/sample-resources';
import { apiVersion, kinds } from '#resources/kinds';
import { type FolderApiData, makeDataDirectory, type OpenFolder, openFolder } from './testing/open-folder.ts';

const collection = `/apis/${apiVersion}/namespaces/default/guardrailpolicies`;
const patchType = 'application/json-patch+json';

let data: FolderApiData;
let folder: OpenFolder;

beforeAll(async () => {
  data = await makeDataDirectory();
  folder = await openFolder(data);
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await data[Symbol.asyncDispose]();
});

type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: StatusBody };
type StatusBody = {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly code?: number;
  readonly items?: readonly { readonly metadata: { readonly name: string } }[];
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
};
type Call = { readonly body?: unknown; readonly type?: string; readonly headers?: Record<string, string | string[]> };

function send(method: string, path: string, { body, type, headers = {} }: Call = {}): Promise<Answer> {
  const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${folder.api.url}${path}`,
      {
        method,
        headers: {
          authorization: 'Bearer the-token',
          ...(bytes === undefined
            ? {}
            : { 'content-type': type ?? 'application/json', 'content-length': bytes.length }),
          ...headers,
        },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: JSON.parse(Buffer.concat(chunks).toString()) as StatusBody,
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(bytes as Buffer | undefined);
  });
}

function expectStatus(answer: Answer, code: number, reason: string): void {
  expect(answer.status).toBe(code);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason });
}

describe('authentication', () => {
  test.each([
    ['no token', { authorization: [] }],
    ['a wrong token', { authorization: 'Bearer wrong' }],
    ['another scheme', { authorization: 'Basic the-token' }],
    ['two tokens', { authorization: ['Bearer the-token', 'Bearer the-token'] }],
  ])('a request to the resource API with %s is answered with 401', async (_name, headers) => {
    for (const path of [collection, '/version', '/nowhere']) {
      expectStatus(await send('GET', path, { headers: headers as Record<string, string[]> }), 401, 'Unauthorized');
    }
  });
});

describe('unsupported requests', () => {
  test.each([
    ['GET', '/nowhere'],
    ['GET', `/apis/${apiVersion}/namespaces/default/pods`],
    ['GET', `/apis/${apiVersion}/namespaces/other/guardrailpolicies`],
    ['GET', `${collection}/name/scale`],
    ['GET', `${collection}/name/status/more`],
    ['GET', `${collection}/%zz`],
  ])('the resource API answers %s %s with 404 and names no object', async (method, path) => {
    const answer = await send(method, path);
    expectStatus(answer, 404, 'NotFound');
    expect(answer.body.details).toEqual({});
  });

  test.each([
    ['PUT', `${collection}/name`],
    ['DELETE', collection],
    ['DELETE', `${collection}/name/status`],
    ['POST', `/apis/${apiVersion}/guardrailpolicies`],
    ['POST', '/version'],
  ])('the resource API refuses %s %s with 405', async (method, path) => {
    expectStatus(await send(method, path), 405, 'MethodNotAllowed');
  });

  test.each([
    '?dryRun=All',
    '?fieldSelector=spec.x=1',
    '?labelSelector=((',
    '?limit=x',
    '?resourceVersion=x',
    '?continue=!!',
    '?sendInitialEvents=true',
  ])('the resource API refuses %s instead of ignoring it', async (query) => {
    expectStatus(await send('GET', `${collection}${query}`), 400, 'BadRequest');
  });

  test('a deletion with the propagation Foreground or Orphan, or as a dry run, is refused rather than ignored', async () => {
    await send('POST', collection, { body: samplePolicy('kept') });
    for (const option of [{ propagationPolicy: 'Foreground' }, { orphanDependents: true }, { dryRun: ['All'] }]) {
      expectStatus(await send('DELETE', `${collection}/kept`, { body: option }), 400, 'BadRequest');
    }
    expect((await send('GET', `${collection}/kept`)).status).toBe(200);
  });
});

describe('bodies', () => {
  test('an invalid object is refused with every problem and its field', async () => {
    const { spec, ...rest } = samplePolicy('Wrong_Name', { labels: { 'bad key!': 'x' } });
    const { displayName: _name, ...specRest } = spec;
    const answer = await send('POST', collection, { body: { ...rest, spec: { ...specRest, extra: 1, lifecycle: 7 } } });
    expectStatus(answer, 422, 'Invalid');
    const causes = answer.body.details?.causes ?? [];
    expect(causes.map((cause) => cause.field).sort()).toEqual([
      'metadata.name',
      'spec.displayName',
      'spec.extra',
      'spec.lifecycle',
    ]);
    expect(causes.find((cause) => cause.field === 'metadata.name')?.message).toMatch(/lower case/);
    expect(answer.body.message).toContain('spec.extra: is an unknown field');
  });

  test.each([
    ['labels', { labels: { 'bad key!': 'x' } }, 'metadata.labels[bad key!]'],
    ['a long label', { labels: { a: 'x'.repeat(64) } }, 'metadata.labels.a'],
    ['annotations', { annotations: { a: 'x'.repeat(262_144) } }, 'metadata.annotations'],
    ['finalizers', { finalizers: ['bad finalizer'] }, 'metadata.finalizers'],
    ['unknown metadata', { generateName: 'x-' }, 'metadata.generateName'],
    [
      'an owner reference without a UID',
      { ownerReferences: [{ apiVersion, kind: 'X', name: 'x', uid: '' }] },
      'metadata.ownerReferences[0].uid',
    ],
  ])('an object with %s is refused by the resource API as Kubernetes refuses it', async (_name, metadata, field) => {
    const answer = await send('POST', collection, { body: samplePolicy('metadata', metadata as object) });
    expectStatus(answer, 422, 'Invalid');
    expect(answer.body.details?.causes?.map((cause) => cause.field.replace('[a]', '.a'))).toEqual([field]);
  });

  test('labels and annotations are accepted at their limits', async () => {
    const metadata = { labels: { a: 'x'.repeat(63) }, annotations: { a: 'x'.repeat(262_143) } };
    expect((await send('POST', collection, { body: samplePolicy('metadata-limits', metadata) })).status).toBe(201);
  });

  test.each([
    ['no JSON', Buffer.from('{')],
    ['a key twice', Buffer.from('{"kind":"a","kind":"b"}')],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a list', Buffer.from('[]')],
    ['another namespace', samplePolicy('x', { namespace: 'other' })],
    ['a version', samplePolicy('x', { resourceVersion: '5' })],
  ])('%s is answered with 400 by the resource API', async (_name, body) => {
    expectStatus(await send('POST', collection, { body }), 400, 'BadRequest');
  });

  test('another content type than JSON is answered with 415 by the resource API', async () => {
    expectStatus(await send('POST', collection, { body: {}, type: 'application/yaml' }), 415, 'UnsupportedMediaType');
    const type = 'application/merge-patch+json';
    expectStatus(await send('PATCH', `${collection}/x`, { body: {}, type }), 415, 'UnsupportedMediaType');
  });

  test('a request of three mebibytes is accepted and a longer one refused', async () => {
    const limit = 3_145_728;
    const text = JSON.stringify(samplePolicy('padded'));
    const padded = (length: number) => Buffer.from(text + ' '.repeat(length - text.length));
    expect((await send('POST', collection, { body: padded(limit) })).status).toBe(201);
    expectStatus(await send('POST', collection, { body: padded(limit + 1) }), 413, 'RequestEntityTooLarge');
  });

  test('an object of one and a half mebibytes is stored and a larger one refused', async () => {
    const path = `/apis/${apiVersion}/namespaces/default/runtimeworkloads`;
    const manifest = (length: number) => ({
      apiVersion,
      kind: kinds.runtimeWorkload.kind,
      metadata: { name: `g-${length}` },
      // A quote takes two bytes in JSON.
      spec: { digest: '0'.repeat(64), build: 'b', manifest: '"'.repeat(length), replicas: 1, state: 'Active' },
    });
    expect((await send('POST', path, { body: manifest(786_000) })).status).toBe(201);
    expectStatus(await send('POST', path, { body: manifest(786_432) }), 413, 'RequestEntityTooLarge');
  });

  test.each([
    ['no list', {}],
    ['an unknown operation', [{ op: 'copy', from: '/spec', path: '/x' }]],
    ['a bad pointer', [{ op: 'remove', path: 'spec' }]],
    ['another name', [{ op: 'replace', path: '/metadata/name', value: 'y' }]],
    ['another kind', [{ op: 'replace', path: '/kind', value: 'ModelBinding' }]],
    ['no metadata', [{ op: 'remove', path: '/metadata' }]],
  ])('a patch with %s is answered with 400 or 422', async (_name, body) => {
    await send('POST', collection, { body: samplePolicy('patched') });
    const answer = await send('PATCH', `${collection}/patched`, { body, type: patchType });
    expect([400, 422]).toContain(answer.status);
    expect((await send('GET', `${collection}/patched`)).body).toMatchObject(samplePolicy('patched'));
  });

  test('a failed test of a JSON Patch is refused with 422 Invalid without causes, as by the API server', async () => {
    await send('POST', collection, { body: samplePolicy('tested') });
    const body = [{ op: 'test', path: '/metadata/resourceVersion', value: '1' }];
    const answer = await send('PATCH', `${collection}/tested`, { body, type: patchType });
    expectStatus(answer, 422, 'Invalid');
    expect(answer.body.details).toEqual({});
    expect(answer.body.message).toBe('the server rejected our request due to an error in our request');
  });

  test('a UID or version that a JSON Patch writes is a precondition', async () => {
    await send('POST', collection, { body: samplePolicy('pinned') });
    for (const member of ['uid', 'resourceVersion']) {
      const body = [{ op: 'replace', path: `/metadata/${member}`, value: '7' }];
      expectStatus(await send('PATCH', `${collection}/pinned`, { body, type: patchType }), 409, 'Conflict');
    }
  });
});

describe('discovery', () => {
  test.each(['/version', '/api', '/api/v1', '/apis', '/apis/portcullis.dev', `/apis/${apiVersion}`, '/openapi/v3'])(
    'the discovery document %s is served',
    async (path) => {
      expect((await send('GET', path)).status).toBe(200);
    },
  );

  test('discovery lists every kind with its status subresource', async () => {
    const { body } = await send('GET', `/apis/${apiVersion}`);
    const names = (body as { resources: { name: string }[] }).resources.map(({ name }) => name);
    expect(names).toEqual(Object.values(kinds).flatMap(({ plural }) => [plural, `${plural}/status`]));
  });

  test('a list covers all namespaces and can select by name', async () => {
    await send('POST', collection, { body: samplePolicy('across') });
    const across = await send('GET', `/apis/${apiVersion}/guardrailpolicies?fieldSelector=metadata.name%3Dacross`);
    expect(across.body.kind).toBe('GuardrailPolicyList');
    expect(across.body.items?.map((item) => item.metadata.name)).toEqual(['across']);
  });

  test('a list selects by a field of its kind', async () => {
    const draft = samplePolicy('drafted');
    await send('POST', collection, { body: draft });
    const archived = { ...draft, metadata: { name: 'archived' }, spec: { ...draft.spec, lifecycle: 'Archived' } };
    await send('POST', collection, { body: archived });
    const chosen = async (selector: string) => {
      const { body } = await send('GET', `${collection}?fieldSelector=${encodeURIComponent(selector)}`);
      return body.items?.map((item) => item.metadata.name);
    };
    expect(await chosen('spec.lifecycle=Archived')).toEqual(['archived']);
    expect(await chosen('spec.lifecycle=Draft,metadata.name=drafted')).toEqual(['drafted']);
    expect(await chosen('spec.lifecycle=Draft,metadata.name=archived')).toEqual([]);
  });

  test('a list that must be newer than the newest version is refused', async () => {
    const answer = await send('GET', `${collection}?resourceVersion=999999999&resourceVersionMatch=NotOlderThan`);
    expectStatus(answer, 504, 'Timeout');
    expect(answer.headers['retry-after']).toBe('1');
  });

  test('a list at an exact version that is no longer stored fails with 410', async () => {
    expectStatus(await send('GET', `${collection}?resourceVersion=1&resourceVersionMatch=Exact`), 410, 'Expired');
  });
});
