/** Bounds of the queries of one add; lengths are UTF-16 units. */
export const nearestLimits = { queries: 20, queryLength: 4_000 } as const;

/**
 * The queries that find the memories near to messages: one for each message, more for a long one while the number allows
 * it. Of more messages than queries, neighbours share one, each with its beginning.
 */
export function nearestQueries(messages: readonly string[]): readonly string[] {
  const { queries, queryLength } = nearestLimits;
  const together = Math.ceil(messages.length / queries);
  if (together <= 1) {
    const most = Math.floor(queries / messages.length);
    return messages.flatMap((text) => piecesOf(text, queryLength).slice(0, most));
  }
  // One unit of each share is for the line break behind it.
  const share = Math.floor(queryLength / together) - 1;
  const beginnings = messages.map((text) => piecesOf(text, share)[0] ?? '');
  return Array.from({ length: Math.ceil(messages.length / together) }, (_, at) =>
    beginnings.slice(at * together, (at + 1) * together).join('\n'),
  );
}

/** Parts of at most `most` units. None ends within a surrogate pair: the gateway refuses such a text. */
function piecesOf(text: string, most: number): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const whole = text.slice(from, from + most);
    const isCut = from + most < text.length && /[\ud800-\udbff]$/.test(whole);
    const piece = isCut ? whole.slice(0, -1) : whole;
    pieces.push(piece);
    from += piece.length;
  }
  return pieces;
}
