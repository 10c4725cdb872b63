import { answers, startScriptedHttp } from '#kit/testing/scripted-http';

/** A span as a collector of OTLP/HTTP with JSON gets it. */
export type CollectedSpan = {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Whether the status is an error. */
  readonly failed: boolean;
};

export type Collector = AsyncDisposable & {
  /** Address of the traces. */
  readonly url: URL;
  /** All spans that arrived until now. */
  spans(): readonly CollectedSpan[];
  /** The bodies of all requests. */
  text(): string;
};

type Attribute = { readonly key: string; readonly value: { stringValue?: string; intValue?: number } };
type Request = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Pick<CollectedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name'> & {
        readonly attributes: readonly Attribute[];
        readonly status: { readonly code: number };
      })[];
    }[];
  }[];
};

/** A receiver of OTLP/HTTP that stores the received traces. */
export async function startCollector(): Promise<Collector> {
  const server = await startScriptedHttp(answers({}));
  return {
    url: new URL('/v1/traces', server.url),
    spans: () => server.seen.flatMap(({ text }) => spansOf(JSON.parse(text) as Request)),
    text: () => server.seen.map(({ text }) => text).join('\n'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function spansOf({ resourceSpans }: Request): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, attributes, status }) => ({
        ...{ service, traceId, spanId, parentSpanId, name },
        attributes: valuesOf(attributes),
        failed: status.code === 2,
      })),
    );
  });
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, string | number>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));
}
