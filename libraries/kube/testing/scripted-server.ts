import {
  answers,
  type Script,
  type ScriptedHttp,
  type SeenRequest,
  startScriptedHttp,
} from '#kit/testing/scripted-http';

const names = ['lists', 'watches', 'confirmations'] as const;
type ScriptName = (typeof names)[number];
type KubeRequest = SeenRequest & { readonly pathname: string; readonly query: URLSearchParams };

/**
 * An HTTP server that answers the n-th list and the n-th watch from a script; after the last answer it does not answer. A
 * list with limit 1, which confirms a version, has its own script; after its end the list is empty.
 */
export type ScriptedServer = Pick<ScriptedHttp, 'url' | 'seen'> &
  AsyncDisposable &
  Readonly<Record<ScriptName, () => readonly KubeRequest[]>> & {
    /** Appends answers. */
    script(steps: Partial<Readonly<Record<ScriptName, readonly Script[]>>>): void;
  };

export async function startScriptedServer(port = 0): Promise<ScriptedServer> {
  const steps: Readonly<Record<ScriptName, Script[]>> = { lists: [], watches: [], confirmations: [] };
  const server = await startScriptedHttp((response, request) => {
    const name = scriptOf(parsed(request));
    const step = steps[name].shift() ?? (name === 'confirmations' ? emptyList : undefined);
    return step?.(response, request);
  }, port);
  const { url, seen } = server;
  const requests = (name: ScriptName) => () => seen.map(parsed).filter((request) => scriptOf(request) === name);
  return {
    url,
    seen,
    lists: requests('lists'),
    watches: requests('watches'),
    confirmations: requests('confirmations'),
    script(more) {
      for (const name of names) steps[name].push(...(more[name] ?? []));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function parsed(request: SeenRequest): KubeRequest {
  const { pathname, searchParams: query } = new URL(request.path, 'http://localhost');
  return { ...request, pathname, query };
}

function scriptOf({ query }: KubeRequest): ScriptName {
  if (query.has('watch')) return 'watches';
  return query.get('limit') === '1' ? 'confirmations' : 'lists';
}

const emptyList: Script = (response, request) => {
  const metadata = { resourceVersion: parsed(request).query.get('resourceVersion'), continue: '' };
  const list = { apiVersion: 'portcullis.dev/v1alpha1', kind: 'GatewayReportList', metadata, items: [] };
  return json(200, list)(response, request);
};

/** A response with a JSON body. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Script {
  return answers(JSON.stringify(body), status, headers);
}
