// Program of helm test: the management API serves its OpenAPI document and refuses a request without a token.
import { CliError } from '../errors/cli-error.ts';
import { writeText } from '../output/write.ts';
import { readTestManagementConfig, type TestManagementConfig } from './config.ts';
import { runOnce } from './run-once.ts';
import { waitForAnswer } from './wait-for-answer.ts';

const timeoutMs = 30_000;
const documentPath = '/api/v1/guardrail-management/openapi.json';
const policiesPath = '/api/v1/guardrail-policies';

type Answer = { readonly status: number; readonly code: string | undefined; readonly body: Body };
type Body = {
  readonly openapi?: unknown;
  readonly paths?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code?: string };
};

async function testManagement({ url, patienceMs }: TestManagementConfig): Promise<void> {
  const deadline = performance.now() + patienceMs;
  const advice = 'see the log of the management API';
  const read = (path: string) => waitForAnswer(`GET ${path}`, () => ask(`${url}${path}`), { deadline, advice });
  const document = await read(documentPath);
  if (document.status !== 200 || typeof document.body.openapi !== 'string') {
    throw failure(documentPath, document, 'an OpenAPI document');
  }
  if (document.body.paths?.[policiesPath] === undefined) throw failure(documentPath, document, 'the path of policies');
  writeText('passed: a ready replica serves the OpenAPI document');
  const refused = await read(policiesPath);
  if (refused.status !== 401 || refused.code !== 'unauthenticated') {
    throw failure(policiesPath, refused, '401 unauthenticated');
  }
  writeText('passed: a request without a token is refused');
}

async function ask(url: string): Promise<Answer> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  const body = (await response.json()) as Body;
  return { status: response.status, code: body.error?.code, body };
}

function failure(path: string, { status, code }: Answer, expected: string): CliError {
  const found = `status ${status} ${code ?? ''}`.trim();
  return new CliError('tests_failed', `GET ${path}: ${found} instead of ${expected}`);
}

await runOnce('test', () => testManagement(readTestManagementConfig()));
