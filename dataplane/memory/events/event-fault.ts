/** The event cannot succeed, even if it is retried. The message is sent to the client. */
export class EventFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EventFault';
  }
}

/** The user would have more memories than the quota allows. */
export class TooManyMemoriesError extends EventFault {
  constructor(most: number) {
    super(`a user has at most ${most} memories`);
    this.name = 'TooManyMemoriesError';
  }
}

/** A memory that a decision refers to has changed since the model saw it: a later attempt decides again. */
export class ChangedMemoryError extends Error {
  constructor() {
    super('the memories of the user changed while a model read the messages');
    this.name = 'ChangedMemoryError';
  }
}
