import { expect, test } from 'vitest';
import { bundleOf, masking, regex, stopList } from '../testing/build-bundle.ts';
import { rawRequest } from '../testing/raw-request.ts';
import { checkText, startRuntime } from '../testing/start-runtime.ts';

/** A request with a host in upper case is not answered directly but by the framework. */
const hosts = { direct: 'runtime.example', framework: 'RUNTIME.example' } as const;

const rules = [stopList('words', ['bomb']), masking(regex('digits', '\\d{4}'), '[number]')];
const body = (content: string): string => checkText('request', [content]);

const cases: readonly [string, string, string, Readonly<Record<string, string>>][] = [
  ['a pass', '/request', body('hello'), {}],
  ['a mask', '/request', body('call 1234'), {}],
  ['a deny', '/request', body('a bomb'), {}],
  ['a response', '/response', checkText('response', ['call 1234']), {}],
  ['a wrong token', '/request', body('hello'), { authorization: 'Bearer wrong' }],
  ['no policy of the bundle', '/request', body('hello'), { 'x-ap-gr-policy-id': 'other' }],
  ['another media type', '/request', body('hello'), { 'content-type': 'text/plain' }],
  ['no JSON', '/request', '{', {}],
  ['another shape', '/request', '{}', {}],
  ['a query', '/request?a=1', body('hello'), {}],
  ['another path', '/request/', body('hello'), {}],
];

test.each(cases)('%s gets the same answer with and without the HTTP framework', async (_, path, text, changes) => {
  await using runtime = await startRuntime(bundleOf(rules));
  const list = runtime.headers(changes);
  const head = list.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${list[at + 1] ?? ''}`] : []));
  const answerTo = async (host: string) => {
    const lines = [`POST ${path} HTTP/1.1`, `host: ${host}`, ...head, `content-length: ${Buffer.byteLength(text)}`];
    const answer = await rawRequest(runtime.url, Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`));
    const { date: _date, ...headers } = answer?.headers ?? {};
    return { ...answer, headers, body: answer?.body.replace(/"traceId":"[0-9a-f]{32}"/, '"traceId":""') };
  };
  const direct = await answerTo(hosts.direct);
  expect(direct.status).toBeGreaterThanOrEqual(200);
  expect(direct).toEqual(await answerTo(hosts.framework));
});
