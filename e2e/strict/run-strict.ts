import type { Bundle } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import { sampleBundle } from '../support/sample-policy.ts';
import { startRuntime } from '../support/start-runtime.ts';
import { httpFaults } from './http-faults.ts';
import { malformedJson } from './malformed-json.ts';
import { encode, type RawAnswer, sendRaw } from './raw-http.ts';
import { bodyText, goodMessage, marker, type RightRequest, type Stage, type StrictCase } from './strict-case.ts';
import { wrongHeaders } from './wrong-headers.ts';
import { wrongShapes } from './wrong-shapes.ts';

/** A runtime that is sent the corpus, one connection for each request. */
export type StrictBench = AsyncDisposable & {
  readonly cases: readonly (StrictCase & { readonly stage: Stage })[];
  /** @returns what was wrong with the answer, or undefined */
  readonly run: (one: StrictCase & { readonly stage: Stage }) => Promise<string | undefined>;
  /** The right request of a stage, which must be judged. */
  readonly control: (stage: Stage) => Promise<RawAnswer>;
};

const stages: readonly Stage[] = ['request', 'response'];

function contextOf(bundle: Bundle): Readonly<Record<string, string>> {
  const [policy] = bundle.policies;
  return {
    'x-ap-gr-policy-id': policy?.id ?? '',
    'x-ap-gr-policy-revision': policy?.revision ?? '',
    'x-ap-gr-bundle-digest': digestOf(bundle),
    'x-ap-gr-content-profile': bundle.contentProfile,
    'x-ap-gr-response-mode': 'buffered',
  };
}

function rightRequest(stage: Stage, token: string, context: Readonly<Record<string, string>>): RightRequest {
  const requestLine = `POST /${stage} HTTP/1.1`;
  const headersFor = (length: number) =>
    [
      ['host', 'runtime.test'],
      ['authorization', `Bearer ${token}`],
      ['content-type', 'application/json'],
      ['content-length', String(length)],
      ...Object.entries(context),
    ] as const;
  const body = Buffer.from(bodyText(stage, [goodMessage]));
  return {
    stage,
    withBody: (other) => {
      const bytes = Buffer.from(other);
      return encode({ requestLine, headers: headersFor(bytes.length), body: bytes });
    },
    withHeaders: (change) => encode({ requestLine, headers: change(headersFor(body.length)), body }),
    withLine: (line) => encode({ requestLine: line, headers: headersFor(body.length), body }),
  };
}

function faultOf(answer: RawAnswer, { status, code }: StrictCase): string | undefined {
  if (answer.status !== status) return `status ${answer.status} instead of ${status}: ${answer.body.slice(0, 120)}`;
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(answer.body) as Record<string, unknown>;
  } catch {
    return `the body is no JSON: ${answer.body.slice(0, 120)}`;
  }
  if (body.code !== code) return `code ${String(body.code)} instead of ${code}`;
  const keys = Object.keys(body).sort().join();
  if (keys !== 'code,message,traceId') return `the body has the fields ${keys}`;
  return answer.body.includes(marker) ? 'the body repeats the text of the request' : undefined;
}

export async function openStrictBench(): Promise<StrictBench> {
  const bundle = sampleBundle();
  const runtime = await startRuntime(bundle);
  const context = contextOf(bundle);
  const port = Number(new URL(runtime.url).port);
  const right = (stage: Stage): RightRequest => rightRequest(stage, runtime.token, context);
  const { maxBodyBytes, maxMessages } = bundle.limits;
  const cases = stages.flatMap((stage) =>
    [
      ...malformedJson(stage),
      ...wrongShapes(stage, maxMessages),
      ...wrongHeaders(runtime.token, context),
      ...(stage === 'request' ? httpFaults(maxBodyBytes) : []),
    ].map((one) => ({ ...one, stage })),
  );
  return {
    cases,
    run: async (one) => faultOf(await sendRaw(port, one.bytes(right(one.stage))), one),
    control: (stage) =>
      sendRaw(
        port,
        right(stage).withHeaders((headers) => headers),
      ),
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
}
