import { wordVector } from '../support/hashed-words.ts';
import { deniedTerm } from '../support/sample-policy.ts';
import type { ScriptedUpstream } from '../support/scripted-upstream.ts';
import type { CatalogueProcesses } from './catalogue-processes.ts';

/** Number of answers by their status, and of requests without an answer. */
export type QueryCounts = Readonly<Record<string, number>>;

type Asking = {
  readonly world: Pick<CatalogueProcesses, 'ask'>;
  /** The provider that the gateway calls. */
  readonly upstream: ScriptedUpstream;
  /** A word that every query contains. */
  readonly marker: string;
  /** Number of requests of each kind. */
  readonly queries: number;
  readonly dimension: number;
};

const atOnce = 8;

/** Makes the provider answer each text with a vector of its words. */
export function answerEmbeddings(upstream: ScriptedUpstream, dimension: number): void {
  upstream.play(({ text }) => {
    const { input } = JSON.parse(text) as { readonly input: readonly string[] };
    const data = input.map((one, index) => ({
      object: 'embedding',
      index,
      embedding: [...wordVector(one, dimension)],
    }));
    return { kind: 'raw', contentType: 'application/json', body: JSON.stringify({ object: 'list', data }) };
  });
}

/**
 * Sends queries with a marker in both versions: queries that are answered, that are refused, that fail, and whose
 * client disconnects.
 */
export async function askWithText({ world, upstream, marker, queries, dimension }: Asking): Promise<QueryCounts> {
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const search = async (what: string, more: object | string, init: RequestInit = {}) => {
    const body = typeof more === 'string' ? more : JSON.stringify({ workspaceId: 'support', ...more });
    const headers = { 'content-type': 'application/json' };
    const sent = world.ask('ann', `/api/${version()}/agents/search`, { method: 'POST', body, headers, ...init });
    const answer = await sent.then(
      async (one) => ({ status: String(one.status), text: await one.text() }),
      () => undefined,
    );
    if (answer?.text.includes(marker) === true) count('answers with the text');
    count(`${what}: ${answer?.status ?? 'left'}`);
  };
  let asked = 0;
  const version = (): string => (asked % 2 === 0 ? 'v1' : 'v2');
  const kinds: readonly (() => Promise<void>)[] = [
    () => search('found', { query: `salaries ${marker}` }),
    () => search('by terms', { query: `${marker} holidays`, profile: 'terms' }),
    () => search('denied by the policy', { query: `${deniedTerm} ${marker}` }),
    () => search('unknown member', { query: `salaries ${marker}`, unknown: marker }),
    () => search('too long', { query: `${marker} `.repeat(300) }),
    () => search('malformed', `{"query": "${marker}", "workspaceId": `),
    () => search('unknown workspace', { query: marker, workspaceId: marker }),
    () => search('unknown profile', { query: marker, profile: marker }),
    () =>
      search(
        'client left',
        { query: `salaries ${marker}` },
        { signal: AbortSignal.timeout(Math.ceil(Math.random() * 10)) },
      ),
  ];
  const sendAll = async (some: readonly (() => Promise<void>)[]): Promise<void> => {
    const open = Array.from({ length: queries }, () => some).flat();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let one = open.pop(); one !== undefined; one = open.pop()) {
          asked += 1;
          await one();
        }
      }),
    );
  };
  await sendAll(kinds);
  upstream.play({ kind: 'status', status: 500, body: '{"error":{"message":"failed"}}' });
  await sendAll([() => search('provider failed', { query: `salaries ${marker}` })]);
  answerEmbeddings(upstream, dimension);
  return counts;
}
