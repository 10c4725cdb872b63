import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { type CheckErrorCode, checkErrors } from '#contracts/checks';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundleOf, stopList } from '../testing/build-bundle.ts';
import { type RawAnswer, rawRequest } from '../testing/raw-request.ts';
import { startRuntime, type TestRuntime } from '../testing/start-runtime.ts';
import { type BodyRow, bodyRows } from './testdata/strict-bodies.ts';
import { type HeaderRow, headerRows as rowsByGroup } from './testdata/strict-headers.ts';
import { httpRows } from './testdata/strict-http.ts';

let runtime: TestRuntime;
beforeAll(async () => {
  const limits = { ...defaultBundleLimits, maxBodyBytes: 2_048, maxMessages: 8 };
  runtime = await startRuntime(bundleOf([stopList('words', ['forbidden'])], [], { limits }));
});
afterAll(async () => runtime[Symbol.asyncDispose]());

const passing = '{"body":{"messages":[{"role":"user","content":"x"}]}}';
const passingResponse = '{"body":{"choices":[{"message":{"role":"user","content":"x"}}]}}';

const headerRows = Object.values(rowsByGroup).flat();

/** The valid headers as lines, with changes: null omits a header, a list repeats it. */
function headerLines(changes: HeaderRow[1] = {}): string {
  const list = runtime.headers();
  const lines: [string, string][] = [];
  for (let index = 0; index < list.length; index += 2) {
    const name = list[index] ?? '';
    if (!Object.hasOwn(changes, name)) lines.push([name, list[index + 1] ?? '']);
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value !== null) for (const one of typeof value === 'string' ? [value] : value) lines.push([name, one]);
  }
  return lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

function post(path: string, body: Buffer, changes: HeaderRow[1] = {}): Promise<RawAnswer | undefined> {
  const head = `POST ${path} HTTP/1.1\r\nhost: runtime\r\n${headerLines(changes)}content-length: ${body.length}\r\n\r\n`;
  return rawRequest(runtime.url, Buffer.concat([Buffer.from(head), body]));
}

/** The outcome of an answer: its status, its code or reason, and whether it has one of the shapes of the contract. */
function told(answer: RawAnswer | undefined): { readonly status: number; readonly code: string } {
  if (answer === undefined) return { status: 0, code: '' };
  const body = JSON.parse(answer.body) as { action?: { reason: string }; code?: string };
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers).not.toHaveProperty('retry-after');
  if (answer.status === 200) {
    expect(Object.keys(body)).toEqual(['action']);
    return { status: 200, code: body.action?.reason ?? '' };
  }
  expect(Object.keys(body)).toEqual(['code', 'message', 'traceId']);
  expect(checkErrors[body.code as CheckErrorCode].status).toBe(answer.status);
  return { status: answer.status, code: body.code ?? '' };
}

function bytesOf(body: BodyRow[1]): Buffer {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : Buffer.from(body);
}

/** The same test row for the response stage, with its word for messages. */
function forResponse([name, body, status, code]: BodyRow): BodyRow | undefined {
  if (typeof body !== 'string' || !body.startsWith('{"body":{"messages":[{"role"') || code === 'message_limit')
    return undefined;
  const items = body.slice('{"body":{"messages":['.length, -']}}'.length);
  return items.includes('},{') || items.includes(']')
    ? undefined
    : [name, `{"body":{"choices":[{"message":${items}}]}}`, status, code];
}
const responseRows = bodyRows.map(forResponse).filter((row) => row !== undefined);

/** Faults in the order of the gates; if a check has only one of them, its answer has the code of that fault. */
type Fault = {
  readonly name: string;
  readonly code: CheckErrorCode;
  readonly changes?: HeaderRow[1];
  readonly body?: string;
  readonly chunked?: true;
};
const faults: readonly Fault[] = [
  { name: 'a wrong token', code: 'unauthenticated', changes: { authorization: 'Bearer wrong' } },
  { name: 'no policy id', code: 'untrusted_context', changes: { 'x-ap-gr-policy-id': null } },
  { name: 'another media type', code: 'unsupported_media', changes: { 'content-type': 'text/plain' } },
  { name: 'a declared length over the limit', code: 'body_too_large', body: ' '.repeat(2_049) },
  { name: 'another digest', code: 'policy_unavailable', changes: { 'x-ap-gr-bundle-digest': 'x' } },
  { name: 'chunks over the limit', code: 'body_too_large', body: ' '.repeat(2_049), chunked: true },
  { name: 'no JSON', code: 'invalid_json', body: '{' },
  { name: 'another shape', code: 'invalid_payload', body: '{}' },
  { name: 'no messages', code: 'message_limit', body: '{"body":{"messages":[]}}' },
];
const pairs = faults.flatMap((first, index) =>
  faults
    .slice(index + 1)
    .flatMap((second) => (first.body === undefined || second.body === undefined ? [[first, second] as const] : [])),
);
const three: readonly (readonly Fault[])[] = [
  faults.slice(0, 3),
  faults.slice(1, 4),
  faults.slice(2, 5),
  [0, 1, 2, 4, 5].flatMap((index) => faults[index] ?? []),
  [4, 8].flatMap((index) => faults[index] ?? []),
];

function postFaults(list: readonly Fault[], path = '/request'): Promise<RawAnswer | undefined> {
  const changes = Object.assign({}, ...list.map((fault) => fault.changes ?? {})) as HeaderRow[1];
  const { body = path === '/request' ? passing : passingResponse, chunked } =
    list.find((fault) => fault.body !== undefined) ?? {};
  if (chunked !== true) return post(path, Buffer.from(body), changes);
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n${headerLines(changes)}transfer-encoding: chunked\r\n\r\n`;
  return rawRequest(runtime.url, Buffer.from(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`));
}

const count =
  bodyRows.length + responseRows.length + 2 * headerRows.length + httpRows.length + pairs.length + three.length;

describe(`the corpus of ${count} malformed inputs`, () => {
  test('the table of strict inputs is large enough and names each row once', () => {
    expect(count).toBeGreaterThanOrEqual(300);
    for (const rows of [bodyRows, headerRows, httpRows])
      expect(new Set(rows.map(([name]) => name)).size).toBe(rows.length);
  });

  verifies(
    [
      'guardrail:errors:invalid-json-utf8',
      'guardrail:errors:invalid-json-syntax',
      'guardrail:errors:invalid-json-duplicate-fields',
      'guardrail:errors:invalid-json-strict-parsing',
      'guardrail:errors:invalid-payload',
    ],
    `each of ${bodyRows.length + responseRows.length} malformed bodies is answered as the contract requires`,
    async () => {
      for (const [name, body, status, code] of bodyRows) {
        expect({ name, ...told(await post('/request', bytesOf(body))) }).toEqual({ name, status, code });
      }
      for (const [name, body, status, code] of responseRows) {
        expect({ name, ...told(await post('/response', bytesOf(body))) }).toEqual({ name, status, code });
      }
    },
  );

  const expectRows = async (rows: readonly HeaderRow[]): Promise<void> => {
    for (const [name, changes, status, code] of rows) {
      for (const [path, body] of [
        ['/request', passing],
        ['/response', passingResponse],
      ] as const) {
        const answer = told(await post(path, Buffer.from(body), changes));
        expect({ path, name, ...answer }).toEqual({ path, name, status, code });
      }
    }
  };

  verifies(
    [
      'guardrail:headers:authorization-empty',
      'guardrail:headers:authorization-duplicate',
      'guardrail:headers:authorization-bearer-scheme',
    ],
    'the service token is required exactly once, as a bearer token',
    () => expectRows(rowsByGroup.tokens),
  );

  verifies(['guardrail:headers:response-mode-values'], 'a response mode is one of two words', () =>
    expectRows(rowsByGroup.modes),
  );

  verifies(
    [
      'guardrail:headers:content-type-json',
      'guardrail:errors:unsupported-media',
      'guardrail:headers:content-encoding-unsupported',
    ],
    'the media type is JSON, declared once, and every Content-Encoding is refused, including identity',
    () => expectRows(rowsByGroup.media),
  );

  test('context headers that are missing, repeated or of another bundle are refused', () =>
    expectRows([...rowsByGroup.contexts, ...rowsByGroup.mismatches]));

  test('headers in any allowed spelling are accepted, and extra ones do not matter', () =>
    expectRows(rowsByGroup.fine));

  test(`each of ${httpRows.length} malformed HTTP messages is answered as the contract requires`, async () => {
    for (const [name, template, status, code, options] of httpRows) {
      const text = template
        .replaceAll('<head>', headerLines())
        .replaceAll('<length>', String(passing.length))
        .replaceAll('<size>', passing.length.toString(16))
        .replaceAll('<body>', passing);
      const answer = await rawRequest(runtime.url, Buffer.from(text, 'latin1'), options ?? {});
      expect({ name, ...told(answer) }).toEqual({ name, status, code });
    }
  });

  test(`each of ${pairs.length + three.length} inputs with several faults is answered by the first gate that fails`, async () => {
    for (const list of [...faults.map((fault) => [fault]), ...pairs, ...three]) {
      const name = list.map((fault) => fault.name).join(' and ');
      const [first] = list;
      expect({ name, ...told(await postFaults(list)) }).toEqual({
        name,
        status: checkErrors[first!.code].status,
        code: first!.code,
      });
    }
  });

  test('the process still answers correctly after all strict inputs', async () => {
    expect(told(await post('/request', Buffer.from(passing)))).toEqual({ status: 200, code: 'policy_pass' });
    expect(told(await post('/request', Buffer.from(passing.replace('"x"', '"forbidden"'))))).toEqual({
      status: 200,
      code: 'policy_denied',
    });
    expect(await runtime.metric('portcullis_runtime_checks_in_flight')).toBe(0);
    expect(await runtime.metric('portcullis_runtime_errors_total', { code: 'internal' })).toBe(0);
  });
});
