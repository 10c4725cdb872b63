/** An approved embedding profile of the environment. */
export type EmbeddingProfile = {
  readonly id: string;
  /** Alias of the model at the model gateway. */
  readonly model: string;
  readonly dimension: number;
  /** Most texts of one call. */
  readonly batch: number;
  /** Most tokens of one text. */
  readonly maxTokens: number;
  readonly queryPrefix: string;
  readonly passagePrefix: string;
};

export type RerankProfile = { readonly id: string; readonly model: string; readonly maxDocuments: number };
export type RewriteProfile = { readonly id: string; readonly model: string; readonly timeoutMs: number };

export type RerankedDocument = { readonly index: number; readonly score: number };

/**
 * Models behind the model gateway. Every method throws ModelsError: `unavailable` (away, overloaded, timeout: try again),
 * `denied` (the guardrail of the gateway refused the text) or `invalid` (an answer of the wrong shape or dimension).
 */
export type Models = AsyncDisposable & {
  /** One vector of unit length for each text, in the order of the texts. Batches as the profile allows. */
  embed(
    profile: EmbeddingProfile,
    use: 'query' | 'passage',
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  /** Best first; every index at most once. */
  rerank(
    profile: RerankProfile,
    query: string,
    documents: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly RerankedDocument[]>;
  /** The text of an answer to one user message. */
  complete(model: string, system: string, user: string, signal?: AbortSignal): Promise<string>;
};
