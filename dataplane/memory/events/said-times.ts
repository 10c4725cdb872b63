type TimedMessage = { readonly created_at?: string | undefined };

/**
 * When each message of an add was said. A message without a time was said before the next one that has a time, and not
 * after the add was received.
 */
export function saidTimes(messages: readonly TimedMessage[], receivedAt: Date): readonly Date[] {
  let latest = receivedAt;
  const times = messages.toReversed().map(({ created_at }) => {
    if (created_at === undefined) return latest;
    const said = new Date(created_at);
    latest = notAfter(receivedAt, said);
    return said;
  });
  return times.toReversed();
}

/** The earlier one: the clock of a client may be ahead, but nothing is said after it is received. */
export function notAfter(receivedAt: Date, said: Date): Date {
  return said > receivedAt ? receivedAt : said;
}
