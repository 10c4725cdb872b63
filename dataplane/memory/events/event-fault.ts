/** The event cannot succeed, whatever is repeated. The message is shown to the client. */
export class EventFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EventFault';
  }
}
