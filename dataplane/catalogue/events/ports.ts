/** An event in the JSON format of CloudEvents 1.0. It has ids and the type of the change, but no text of a card. */
export type CloudEvent = {
  readonly specversion: '1.0';
  /** The id of the event, equal in every delivery: receivers use it to drop a repeated delivery. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** The id of the agent. */
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  /**
   * The sequence number, one higher with every event of the agent; 19 digits, so that the order of texts is the order
   * of numbers (CloudEvents, extension `sequence`).
   */
  readonly sequence: string;
  readonly data: { readonly agentId: string; readonly versionId: string | null };
};

/** `delivered`: the receiver has stored it; `refused`: it never will take this event; `failed`: try again later. */
export type DeliveryOutcome = 'delivered' | 'refused' | 'failed';

/**
 * A receiver to which events are delivered. The promise never rejects: an event whose delivery is not confirmed has
 * failed.
 */
export type EventReceiver = AsyncDisposable & {
  deliver(event: CloudEvent, signal: AbortSignal): Promise<DeliveryOutcome>;
};
