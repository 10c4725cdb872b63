import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkErrors } from '#contracts/checks';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundleOf, masking, stopList } from '../testing/build-bundle.ts';
import { startRuntime, type TestRuntime, testServiceToken } from '../testing/start-runtime.ts';

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await startRuntime(
    bundleOf([stopList('words', ['forbidden']), masking(stopList('names', ['alice']), '[name]')]),
  );
});
afterAll(async () => runtime[Symbol.asyncDispose]());

type Schema = { readonly [key: string]: Schema } & { readonly [index: number]: Schema };
const text = readFileSync(new URL('./openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as Schema;
const resolve = (value: Schema): Schema => {
  const reference = value['$ref'] as unknown as string | undefined;
  return reference === undefined
    ? value
    : reference
        .slice(2)
        .split('/')
        .reduce((at, key) => at[key] as Schema, document);
};

/** A validator for one schema of the document. */
function validator(name: string): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: 'openapi', components: document['components'] });
  const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
  return (value) => validate(value) as boolean;
}

describe('GET /openapi.json', () => {
  verifies(
    [
      'guardrail:endpoints:openapi-json',
      'guardrail:versioning:openapi-3-1',
      'guardrail:versioning:title',
      'guardrail:versioning:version',
    ],
    'GET /openapi.json is the frozen document, whatever bundle is loaded, without a token',
    async () => {
      expect(createHash('sha256').update(text).digest('hex')).toBe(
        '33980995a2c6038483ab3808514ad2cf8e96285a91ae4584641a19e5a7104baf',
      );
      await using other = await startRuntime(
        bundleOf([stopList('other', ['x'])], [], { contentProfile: 'gateway-1.4.1-text-webhook-v1' }),
      );
      for (const served of [runtime, other]) {
        const answer = await served.get('/openapi.json');
        expect(answer.status).toBe(200);
        expect(answer.headers['content-type']).toBe('application/json');
        expect(answer.text).toBe(text);
        expect(answer.json['openapi']).toMatch(/^3\.1\./);
        expect(answer.json['info']).toMatchObject({ title: 'Guardrail Runtime', version: '0.1.0' });
      }
    },
  );

  verifies(
    ['guardrail:request-body:content-schema-max', 'guardrail:headers:response-mode-optional-in-schema'],
    'GET /openapi.json declares the limits and headers of the contract',
    () => {
      const message = document['components']?.['schemas']?.['Message']?.['properties'];
      expect(message).toMatchObject({
        content: { type: 'string', maxLength: 2_097_152 },
        role: { minLength: 1, maxLength: 32 },
      });
      for (const path of ['/request', '/response']) {
        const parameters = ((document['paths']?.[path]?.['post']?.['parameters'] ?? []) as unknown as Schema[]).map(
          resolve,
        );
        expect(parameters.map(({ name, required, in: place }) => [name, required, place])).toEqual([
          ['x-ap-gr-policy-id', true, 'header'],
          ['x-ap-gr-policy-revision', true, 'header'],
          ['x-ap-gr-bundle-digest', true, 'header'],
          ['x-ap-gr-content-profile', true, 'header'],
          ['x-ap-gr-response-mode', false, 'header'],
        ]);
      }
    },
  );

  test('GET /openapi.json lists exactly the operations that exist', async () => {
    const operations = Object.entries(document['paths'] ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(operations).toEqual([
      'post /request',
      'post /response',
      'get /readyz',
      'get /metrics',
      'get /openapi.json',
      'get /docs',
    ]);
  });

  test('in openapi.json every reference has a target and every object is closed', () => {
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const node = value as Schema;
      if (typeof node['$ref'] === 'string') expect(resolve(node)).toBeDefined();
      if (node['properties'] !== undefined) expect(node['additionalProperties']).toBe(false);
      Object.values(node).forEach(visit);
    };
    visit(document);
  });

  test('the examples in openapi.json are valid against its schemas', () => {
    let checked = 0;
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const node = value as Schema;
      const name = (node['schema']?.['$ref'] as unknown as string | undefined)?.split('/').at(-1);
      if (name !== undefined) {
        const examples = [
          ...Object.values(node['examples'] ?? {}).map((example) => example['value']),
          ...(node['example'] === undefined ? [] : [node['example']]),
        ];
        for (const example of examples) {
          expect({ name, example, valid: validator(name)(example) }).toEqual({ name, example, valid: true });
          checked += 1;
        }
      }
      Object.values(node).forEach(visit);
    };
    visit(document['paths']);
    visit(document['components']?.['responses']);
    expect(checked).toBeGreaterThan(25);
  });

  test('GET /openapi.json documents every error code with its status', () => {
    for (const path of ['/request', '/response']) {
      const responses = document['paths']?.[path]?.['post']?.['responses'] ?? ({} as Schema);
      const documented = Object.entries(responses).flatMap(([status, reference]) =>
        Object.keys(resolve(reference)['content']?.['application/json']?.['examples'] ?? {}).map((code) => [
          code,
          Number(status),
        ]),
      );
      const codes = documented.filter(([, status]) => status !== 200);
      const expected = Object.entries(checkErrors)
        .filter(([, { status }]) => status !== 404 && status !== 405)
        .map(([code, { status }]) => [code, status]);
      expect(codes.sort()).toEqual(expected.sort());
    }
  });

  test('the schemas in openapi.json accept the answers of the runtime and refuse the bodies that it refuses', async () => {
    for (const stage of ['request', 'response'] as const) {
      const result = validator(stage === 'request' ? 'RequestResult' : 'ResponseResult');
      const other = validator(stage === 'request' ? 'ResponseResult' : 'RequestResult');
      for (const content of ['hello', 'forbidden', 'alice'])
        expect(result((await runtime.check(stage, [content])).json)).toBe(true);
      expect(other((await runtime.check(stage, ['alice'])).json)).toBe(false);
      expect(validator('Error')((await runtime.check(stage, [])).json)).toBe(true);
      const body = validator(stage === 'request' ? 'RequestCheck' : 'ResponseCheck');
      const good = { role: 'user', content: 'x' };
      const wrap = (message: unknown): object =>
        stage === 'request' ? { body: { messages: [message] } } : { body: { choices: [{ message }] } };
      for (const message of [
        good,
        { ...good, name: 'x' },
        { role: 'user' },
        { ...good, role: '' },
        { ...good, content: null },
      ]) {
        const { status } = await runtime.post(`/${stage}`, JSON.stringify(wrap(message)));
        expect({ message, valid: body(wrap(message)) }).toEqual({ message, valid: status === 200 });
      }
    }
  });

  test('the OpenAPI document is a strict subset of the format that an agentgateway webhook accepts', () => {
    const schemas = document['components']?.['schemas'] ?? ({} as Schema);
    expect(Object.keys(schemas['Pass']?.['properties'] ?? {})).toEqual(['reason']);
    expect(Object.keys(schemas['Reject']?.['properties'] ?? {})).toEqual(['body', 'status_code', 'reason']);
    for (const mask of ['RequestMask', 'ResponseMask'])
      expect(Object.keys(schemas[mask]?.['properties'] ?? {})).toEqual(['body', 'reason']);
    expect(schemas['Reject']?.['properties']).toMatchObject({
      body: { type: 'string' },
      status_code: { type: 'integer' },
    });
    expect(schemas['Messages']?.['properties']).toMatchObject({ messages: { type: 'array' } });
    expect(schemas['Choices']?.['properties']).toMatchObject({ choices: { type: 'array' } });
  });
});

describe('GET /docs', () => {
  verifies(
    ['guardrail:endpoints:docs'],
    'GET /docs is a standalone page that needs no token and no external asset',
    async () => {
      const { status, headers, text: page } = await runtime.get('/docs');
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(page).toContain("fetch('openapi.json')");
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      for (const name of ['script', 'style']) {
        const inside = new RegExp(`<${name}>([^]*?)</${name}>`).exec(page)?.[1] ?? '';
        const hash = createHash('sha256').update(inside).digest('base64');
        expect(policy).toContain(`${name}-src 'sha256-${hash}'`);
        expect(page.match(new RegExp(`<${name}[ >]`, 'g'))).toHaveLength(1);
      }
      expect(page).not.toMatch(/ on[a-z]+="| style="/);
    },
  );

  verifies(
    ['guardrail:endpoints:docs-post-needs-headers'],
    'a POST from GET /docs has no extra rights: without the headers it fails like any other',
    async () => {
      const fromDocs = { authorization: undefined, referer: `${runtime.url}/docs`, origin: runtime.url };
      expect((await runtime.check('request', ['hello'], fromDocs)).status).toBe(401);
      expect(
        (
          await runtime.check('request', ['hello'], {
            ...fromDocs,
            authorization: `Bearer ${testServiceToken}`,
            'x-ap-gr-policy-id': undefined,
          })
        ).status,
      ).toBe(403);
    },
  );
});

describe('GET /readyz', () => {
  verifies(
    ['guardrail:endpoints:readyz', 'guardrail:readyz:ready-200', 'guardrail:state:readiness-no-gateway-claim'],
    'GET /readyz is 200 with a loaded bundle, no gateway and no token',
    async () => {
      const answer = await runtime.get('/readyz');
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: '{"status":"ready"}' });
    },
  );
});

describe('GET /metrics', () => {
  verifies(
    ['guardrail:endpoints:metrics', 'guardrail:metrics:text-format-200', 'guardrail:stateless:only-process-metrics'],
    'GET /metrics is text for the holder of the token, without context headers',
    async () => {
      await runtime.check('request', ['hello']);
      const answer = await runtime.get('/metrics', { authorization: `Bearer ${testServiceToken}` });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(answer.text).toMatch(
        /^portcullis_runtime_checks_total\{stage="request",decision="pass",policy="policy-a",service="runtime"\} \d+$/m,
      );
      expect(answer.text).toMatch(/^process_cpu_seconds_total/m);
    },
  );

  verifies(
    ['guardrail:metrics:bounded'],
    'the size of GET /metrics does not depend on texts, messages or callers, and no part of them is kept',
    async () => {
      const series = async (): Promise<number> => {
        const { text: exposition } = await runtime.get('/metrics', { authorization: `Bearer ${testServiceToken}` });
        return exposition.split('\n').filter((line) => line.startsWith('portcullis_')).length;
      };
      const round = async (seed: string): Promise<void> => {
        for (const stage of ['request', 'response'] as const) {
          for (const word of ['hello', 'forbidden', 'alice'])
            await runtime.check(stage, [`${word} ${seed}`, seed], { 'user-agent': seed });
          await runtime.check(stage, [seed], { 'x-ap-gr-policy-id': seed });
          await runtime.check(stage, [seed], { authorization: `Bearer ${seed}` });
          await runtime.post(`/${stage}`, seed);
        }
      };
      await round('first-marker');
      const before = await series();
      for (let index = 0; index < 20; index += 1) await round(`marker-${index}`);
      expect(await series()).toBe(before);
      const { text: exposition } = await runtime.get('/metrics', { authorization: `Bearer ${testServiceToken}` });
      expect(exposition).not.toContain('marker');
      expect(runtime.log()).not.toContain('marker');
      expect(runtime.log()).not.toContain(testServiceToken);
    },
  );
});

describe('any other route', () => {
  verifies(['guardrail:routes:no-other-check-routes'], 'the runtime answers any other path with 404', async () => {
    const body = '{"body":{"messages":[{"role":"user","content":"hello"}]}}';
    for (const path of [
      '/v1/check',
      '/evaluate',
      '/classify',
      '/batch',
      '/dry-run',
      '/',
      '/request/',
      '/Request',
      '/responses',
      '/v1/request',
      '/healthz',
      '/%2e',
      '/request%00',
    ]) {
      const answer = await runtime.post(path, body);
      expect({ path, status: answer.status, code: answer.json.code }).toEqual({ path, status: 404, code: 'not_found' });
    }
  });

  test('another method of a known path is answered with 405 and an Allow header', async () => {
    for (const [path, method, allow] of [
      ['/request', 'GET', 'POST'],
      ['/response', 'PUT', 'POST'],
      ['/request', 'OPTIONS', 'POST'],
      ['/readyz', 'POST', 'GET, HEAD'],
      ['/metrics', 'DELETE', 'GET, HEAD'],
      ['/docs', 'PATCH', 'GET, HEAD'],
      ['/openapi.json', 'POST', 'GET, HEAD'],
    ] as const) {
      const answer = await fetch(`${runtime.url}${path}`, { method });
      expect({ status: answer.status, allow: answer.headers.get('allow') }).toEqual({ status: 405, allow });
      expect(await answer.json()).toMatchObject({ code: 'method_not_allowed' });
    }
    for (const path of ['/readyz', '/docs', '/openapi.json']) {
      const answer = await fetch(`${runtime.url}${path}`, { method: 'HEAD' });
      expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: '' });
    }
  });
});
