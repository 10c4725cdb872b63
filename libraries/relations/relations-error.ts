/** Nobody knows whether the relation holds, or the change was made: the store is away, too slow or refuses this client. */
export class RelationsUnavailableError extends Error {
  readonly code = 'relations_unavailable';

  constructor(cause?: unknown) {
    super('the store of relations does not answer', { cause });
    this.name = 'RelationsUnavailableError';
  }
}

export type RelationsModelFault =
  | 'bad_object'
  | 'bad_subject'
  | 'unknown_relation'
  | 'too_many'
  | 'contradiction'
  | 'bad_cursor'
  | 'too_complex';

/** What was asked or given is nothing that the model knows. Nothing was asked of the store, and nothing changed. */
export class RelationsModelError extends Error {
  readonly code: RelationsModelFault;

  constructor(code: RelationsModelFault, message: string) {
    super(message);
    this.name = 'RelationsModelError';
    this.code = code;
  }
}
