import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundleOf, stopList } from '../testing/build-bundle.ts';
import { type OpenPage, openPage, type SmallElement } from '../testing/small-document.ts';
import { startRuntime, type TestRuntime } from '../testing/start-runtime.ts';

let runtime: TestRuntime;
let page: OpenPage;
beforeAll(async () => {
  runtime = await startRuntime(bundleOf([stopList('words', ['forbidden'])]));
  page = openPage((await runtime.get('/docs')).text, `${runtime.url}/docs`);
  await until('the page shows the operations', () => page.find('operations', 'form').length > 0);
});
afterAll(async () => runtime[Symbol.asyncDispose]());

const operation = (summary: string): SmallElement => {
  const found = page.find('operations', 'details').find((element) => element.textContent.startsWith(summary));
  if (found === undefined) throw new Error(`${summary} is not shown`);
  return found;
};
const within = (element: SmallElement, name: string): readonly SmallElement[] =>
  [...element.all()].filter((each) => each.tag === name);
const submit = (element: SmallElement): void =>
  within(element, 'form')[0]?.listeners.get('submit')?.({ preventDefault() {} });
const shown = (element: SmallElement): string =>
  [...element.all()].find((each) => each.attributes.get('role') === 'status')?.textContent ?? '';

test('the page of GET /docs displays every operation and every schema', () => {
  expect(
    page.find('operations', 'summary').map((summary) => summary.textContent.split(' ').slice(0, 2).join(' ')),
  ).toEqual(['POST /request', 'POST /response', 'GET /readyz', 'GET /metrics', 'GET /openapi.json', 'GET /docs']);
  expect(page.find('schemas', 'h3').map((title) => title.textContent)).toContain('ResponseMask');
  expect(page.byId('title').textContent).toContain('0.1.0');
});

verifies(
  ['guardrail:endpoints:docs', 'guardrail:endpoints:docs-post-needs-headers'],
  'the page of GET /docs executes a POST with the entered headers and displays its answer',
  async () => {
    const post = operation('POST /request');
    const inputs = within(post, 'input');
    expect(inputs.map((input) => input.name)).toEqual([
      'authorization',
      'x-ap-gr-policy-id',
      'x-ap-gr-policy-revision',
      'x-ap-gr-bundle-digest',
      'x-ap-gr-content-profile',
      'x-ap-gr-response-mode',
    ]);
    submit(post);
    await until('the refusal is displayed', () => shown(post).includes('unauthenticated'));
    expect(shown(post)).toContain('HTTP 401');
    const headers = runtime.headers();
    for (const input of inputs) input.value = headers[headers.indexOf(input.name) + 1] ?? '';
    submit(post);
    await until('the result is shown', () => shown(post).includes('policy_pass'));
    const [body] = within(post, 'textarea');
    if (body !== undefined) body.value = '{"body":{"messages":[{"role":"user","content":"forbidden"}]}}';
    submit(post);
    await until('the denial is shown', () => shown(post).includes('Запрос отклонён политикой'));
  },
);

test('the page of GET /docs executes a GET', async () => {
  const readiness = operation('GET /readyz');
  submit(readiness);
  await until('readiness is shown', () => shown(readiness).includes('HTTP 200') && shown(readiness).includes('ready'));
});
