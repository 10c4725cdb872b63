import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import {
  documentOf,
  type OpenedRetrieval,
  type TestCaller,
} from '../../dataplane/retrieval/testing/start-retrieval.ts';

type Citation = {
  readonly doc_id: string;
  readonly chunk_id: string;
  readonly title: string;
  readonly content: string;
};
type Packed = {
  readonly packed_context: string;
  readonly token_count: number;
  readonly mode: 'full_document' | 'relevance_search';
  readonly items: readonly Citation[];
};

type BudgetCounts = {
  /** Number of contexts with more tokens than their budget, or whose token count differs from that of their text. */
  exceeded: number;
  /** Contexts without a chunk or document that would still fit. */
  unfilled: number;
  /**
   * Number of contexts that lack the text of one of their items, or that have an item which the search did not find.
   */
  incomplete: number;
  readonly modes: Record<Packed['mode'], number>;
  /** Chunks that did not fit. */
  omitted: number;
};

const caller: TestCaller = { user: 'ann', groups: ['staff'] };
const words = [
  'отпуск',
  'harbour',
  'зарплата',
  'ledger',
  'ёлка',
  'winter',
  'договор',
  'bread',
  '§ 4.2',
  '🎄',
  '1234567',
  'chess',
];
const modes = ['hybrid', 'vector', 'bm25'] as const;

/** Submits documents of random lengths in two languages, which are cut into chunks that touch. */
export async function submitTexts(
  service: OpenedRetrieval,
  count: number,
  random: () => number,
): Promise<ReadonlyMap<string, string>> {
  const made = await service.call(caller, '/v1/collections', {
    name: 'papers',
    embedding_profile_id: 'test-profile',
    chunking: { size: 100, overlap: 0 },
  });
  if (made.status !== 201) throw new Error(`the collection was answered ${made.status}`);
  const sentence = (): string =>
    `${Array.from({ length: 3 + Math.floor(random() * 15) }, () => words[Math.floor(random() * words.length)]).join(' ')}.`;
  const texts = new Map(
    Array.from({ length: count }, (_, at) => {
      const sentences = Array.from({ length: 1 + Math.floor(random() ** 2 * 40) }, sentence);
      return [`paper-${at}`, sentences.join(' ')];
    }),
  );
  const documents = [...texts].map(([id, text]) =>
    documentOf('papers', id, text, { content: { sections: [{ text }] } }),
  );
  for (let at = 0; at < documents.length; at += 20) {
    const jobs = await service.ingest(caller, documents.slice(at, at + 20));
    const failed = jobs.find(({ status }) => status !== 'DONE');
    if (failed !== undefined) throw new Error(`a document was not indexed: ${failed.error}`);
  }
  return texts;
}

/** Packs the results of random queries into random budgets and compares each context with the results of the query. */
export async function packBudgets(
  service: OpenedRetrieval,
  texts: ReadonlyMap<string, string>,
  budgets: number,
  random: () => number,
): Promise<BudgetCounts> {
  const counts: BudgetCounts = {
    ...{ exceeded: 0, unfilled: 0, incomplete: 0, omitted: 0 },
    modes: { full_document: 0, relevance_search: 0 },
  };
  const post = async <T>(path: string, body: object): Promise<T> => {
    const { status, json } = await service.call(caller, path, body);
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(json)}`);
    return json as T;
  };
  for (let at = 0; at < budgets; at += 1) {
    const text = `${words[Math.floor(random() * words.length)]} ${words[Math.floor(random() * words.length)]}`;
    const query = { collection: 'papers', text, mode: modes[at % modes.length], top_k: 1 + Math.floor(random() * 40) };
    const budget = 1 + Math.floor(random() ** 2 * 4_000);
    const { items: found } = await post<{ readonly items: readonly Citation[] }>('/v1/query', query);
    const packed = await post<Packed>('/v1/retrieve_and_pack', { ...query, token_budget: budget });
    counts.modes[packed.mode] += 1;
    if (packed.token_count > budget || tokensOf(packed.packed_context) !== packed.token_count) counts.exceeded += 1;
    if (!isComplete(packed, found, texts)) counts.incomplete += 1;
    const kept = new Set(packed.items.map(({ chunk_id }) => chunk_id));
    const omitted = found.filter(({ chunk_id }) => !kept.has(chunk_id));
    counts.omitted += omitted.length;
    if (
      omitted.some((one) => fits(packed.packed_context, one, budget)) ||
      wouldFitWhole(packed, found, texts, budget)
    ) {
      counts.unfilled += 1;
    }
  }
  return counts;
}

const tokensOf = (text: string): number => countTokens(text, { disallowedSpecial: new Set<string>() });
const blockOf = (title: string | null, text: string): string => (title === null ? text : `[${title}]\n${text}`);

function isComplete(packed: Packed, found: readonly Citation[], texts: ReadonlyMap<string, string>): boolean {
  const known = new Set(found.map(({ chunk_id }) => chunk_id));
  return packed.items.every(
    ({ chunk_id, doc_id, content }) =>
      known.has(chunk_id) &&
      packed.packed_context.includes(packed.mode === 'full_document' ? (texts.get(doc_id) ?? '\0') : content),
  );
}

/** Whether a chunk would fit as a separate block, which has at least as many tokens as a merged block. */
function fits(context: string, { title, content }: Citation, budget: number): boolean {
  const block = blockOf(title, content);
  return tokensOf(context === '' ? block : `${context}\n\n${block}`) <= budget;
}

/** Whether chunks were packed although the whole documents would fit. */
function wouldFitWhole(
  { mode }: Packed,
  found: readonly Citation[],
  texts: ReadonlyMap<string, string>,
  budget: number,
): boolean {
  if (mode === 'full_document' || found.length === 0) return false;
  const titles = new Map(found.map(({ doc_id, title }) => [doc_id, title]));
  const blocks = [...titles].map(([id, title]) => blockOf(title, texts.get(id) ?? ''));
  return tokensOf(blocks.join('\n\n')) <= budget;
}
