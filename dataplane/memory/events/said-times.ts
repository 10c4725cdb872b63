type TimedMessage = { readonly created_at?: string | undefined };

/** When a message was said, and the same time in the calendar of its time zone, in the UTC fields. */
type SaidTime = { readonly saidAt: Date; readonly localAt: Date };

/**
 * When each message of an add was said. A message without a time was said before the next one that has a time, in its
 * zone, and not after the add was received.
 */
export function saidTimes(messages: readonly TimedMessage[], receivedAt: Date): readonly SaidTime[] {
  let latest: SaidTime = { saidAt: receivedAt, localAt: receivedAt };
  const times = messages.toReversed().map(({ created_at }) => {
    if (created_at === undefined) return latest;
    const saidAt = new Date(created_at);
    const local = (time: Date): Date => new Date(time.getTime() + offsetMs(created_at));
    const notLater = notAfter(receivedAt, saidAt);
    latest = { saidAt: notLater, localAt: local(notLater) };
    return { saidAt, localAt: local(saidAt) };
  });
  return times.toReversed();
}

/** The offset from UTC that a time of ISO 8601 ends with, milliseconds. */
function offsetMs(time: string): number {
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})$/.exec(time) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
}

/**
 * Returns the earlier of both times: the clock of a client may be fast, but a message is said before it is received.
 */
export function notAfter(receivedAt: Date, said: Date): Date {
  return said > receivedAt ? receivedAt : said;
}
