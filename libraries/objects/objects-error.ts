export type ObjectsFault =
  /** The store does not respond, is too slow or overloaded. */
  | 'unreachable'
  /** The store has no space left. */
  | 'full'
  /** The store authenticates the client and denies it access, or the bucket does not exist. */
  | 'denied'
  /** The credentials are missing, unknown or expired. */
  | 'credentials';

const sentences = {
  unreachable: 'the store of objects does not answer',
  full: 'the store of objects has no space left',
  denied: 'the store of objects refuses access',
  credentials: 'the store of objects does not accept the credentials',
} as const satisfies Record<ObjectsFault, string>;

/** The state of the object is unknown: the call may have taken effect or not. The message contains no key. */
export class ObjectsUnavailableError extends Error {
  readonly code = 'objects_unavailable';
  readonly fault: ObjectsFault;

  constructor(fault: ObjectsFault) {
    super(sentences[fault]);
    this.name = 'ObjectsUnavailableError';
    this.fault = fault;
  }
}

/** An object is larger than its reader allows. */
export class ObjectTooLargeError extends Error {
  readonly code = 'object_too_large';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`the object is larger than ${maxBytes} bytes`);
    this.name = 'ObjectTooLargeError';
    this.maxBytes = maxBytes;
  }
}
