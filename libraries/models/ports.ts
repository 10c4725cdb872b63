/** An approved embedding profile of the environment. */
export type EmbeddingProfile = {
  readonly id: string;
  /** Alias of the model at the model gateway. */
  readonly model: string;
  /** Length of every vector. */
  readonly dimension: number;
  /** Whether a call requests the dimension; models with a fixed dimension refuse the parameter. */
  readonly sendDimension: boolean;
  /** Maximum number of texts in one call. */
  readonly batch: number;
  /** Maximum number of tokens of one text. The caller must respect it; a model refuses or truncates a longer text. */
  readonly maxTokens: number;
  readonly queryPrefix: string;
  readonly passagePrefix: string;
};

/** `maxDocuments` is the maximum number of documents in one call; more documents are judged in several calls. */
export type RerankProfile = { readonly id: string; readonly model: string; readonly maxDocuments: number };

/** `timeoutMs` bounds a rewrite as a whole: a query does not wait longer for it. */
export type RewriteProfile = { readonly id: string; readonly model: string; readonly timeoutMs: number };

/** `index` is the place of the document in the request, from 0; a greater score is better. */
export type RerankedDocument = { readonly index: number; readonly score: number };

/** The values that a call takes from the request that it serves. */
export type ModelCall = {
  /** An abort ends the call; it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Header of W3C Trace Context that the gateway gets. */
  readonly traceparent?: string;
  /**
   * Timeout of the call with all its attempts, milliseconds; when absent, the timeout of the client. It applies to all
   * batches of a rerank together.
   */
  readonly timeoutMs?: number;
};

/**
 * Models that the model gateway serves. Every method throws ModelsError: `unavailable` (unreachable, overloaded, too
 * slow, not served: try again later), `denied` (the guardrail of the gateway refused the text), `refused` (the gateway
 * or the model does not accept this input, such as a text that is too long) or `invalid` (an answer of the wrong shape
 * or dimension).
 */
export type Models = AsyncDisposable & {
  /**
   * Returns one vector of unit length for each text, in the order of the texts. The texts are sent in batches that the
   * profile allows.
   */
  embed(
    profile: EmbeddingProfile,
    use: 'query' | 'passage',
    texts: readonly string[],
    call?: ModelCall,
  ): Promise<readonly Float32Array[]>;
  /** Best first; equal scores in the order of the documents; every index once. */
  rerank(
    profile: RerankProfile,
    query: string,
    documents: readonly string[],
    call?: ModelCall,
  ): Promise<readonly RerankedDocument[]>;
  /**
   * The text of an answer to one user message. With `answer` the call requests JSON of that form in strict mode, and is
   * repeated without strict mode if the model refuses it; so the caller must check the form in both cases.
   */
  complete(model: string, prompt: Prompt, call?: ModelCall): Promise<string>;
};

type Prompt = { readonly system: string; readonly user: string; readonly answer?: AnswerForm };

/** The form of an answer: `response_format` of the OpenAI API, of type `json_schema` with `strict`. */
export type AnswerForm = {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** JSON Schema in the part that strict modes support: every member required, no others, no bounds. */
  readonly schema: object;
};
