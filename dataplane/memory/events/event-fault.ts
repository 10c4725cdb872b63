/** The event cannot succeed, even if it is retried. The message is shown to the client. */
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
