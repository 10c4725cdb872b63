/** The event cannot succeed, even if it is retried. The message is shown to the client. */
export class EventFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EventFault';
  }
}
