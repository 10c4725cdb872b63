type SearchFault =
  /** The engine or its source does not answer. */
  | 'unreachable'
  /** The engine does not accept the user, the password or the rights of this process. */
  | 'unauthorized'
  /** The certificate of the engine is not accepted. */
  | 'untrusted'
  /** The engine answers and takes no writes, for example because its disk is full. */
  | 'read_only'
  /** The partition or its index does not exist. */
  | 'absent'
  /** The partition did not reflect the required change in time. */
  | 'behind'
  /** The partition is larger than the configured bound. */
  | 'too_large'
  /** The engine cannot name as many candidates as the query needs. */
  | 'too_deep';

const sentences: Readonly<Record<SearchFault, string>> = {
  unreachable: 'the search engine does not answer',
  unauthorized: 'the search engine refuses the user, the password or the rights of this process',
  untrusted:
    'the certificate of the search engine is not accepted: a configured authority must have signed it, for this host',
  read_only: 'the search engine accepts no writes: its disk is full, or its index is read-only',
  absent: 'the search engine has no such partition: it is rebuilt or was removed',
  behind: 'the search engine does not reflect the newest changes yet: repeat the query',
  too_large: 'the partition is larger than the memory of the search engine: raise the bound or divide the collection',
  too_deep:
    'the best candidates of the search engine are not visible at present: remove documents that are no longer valid',
};

/** A search has no answer; this error is never replaced by an empty result. */
export class SearchUnavailableError extends Error {
  readonly code = 'search_unavailable';
  readonly fault: SearchFault;

  constructor(fault: SearchFault, cause?: unknown) {
    super(sentences[fault], { cause });
    this.name = 'SearchUnavailableError';
    this.fault = fault;
  }
}
