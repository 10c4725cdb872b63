/**
 * Limits of the queries of one add; lengths are UTF-16 units. Embedding models for 512 tokens accept most texts of this
 * length.
 */
export const nearestLimits = { queries: 40, queryLength: 1_000 } as const;

/**
 * The queries that find the memories near to messages: one query for the beginning of each message, then one for the
 * next part of each, and so on up to the maximum number. With more messages than queries, neighbouring messages share a
 * query for their beginnings.
 */
export function nearestQueries(messages: readonly string[]): readonly string[] {
  const { queries, queryLength } = nearestLimits;
  const together = Math.max(1, Math.ceil(messages.length / queries));
  // One unit of each share is for the line break after the text.
  const share = together === 1 ? queryLength : Math.floor(queryLength / together) - 1;
  const beginnings = messages.map((text) => pieceAt(text, 0, share));
  const shared = Array.from({ length: Math.ceil(messages.length / together) }, (_, at) =>
    beginnings.slice(at * together, (at + 1) * together).join('\n'),
  );
  const rests = messages.map((text, at) => piecesOf(text.slice(beginnings[at]?.length), queryLength));
  const turns = Math.max(0, ...rests.map(({ length }) => length));
  const byTurn = Array.from({ length: turns }, (_, turn) => rests.flatMap((pieces) => pieces[turn] ?? []));
  return [...shared, ...byTurn.flat()].slice(0, queries);
}

function piecesOf(text: string, most: number): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += pieces.at(-1)?.length ?? most) pieces.push(pieceAt(text, from, most));
  return pieces;
}

/** A part of at most `most` units. It does not end within a surrogate pair, because the gateway refuses such a text. */
function pieceAt(text: string, from: number, most: number): string {
  const whole = text.slice(from, from + most);
  const isCut = from + most < text.length && /[\ud800-\udbff]$/.test(whole);
  return isCut ? whole.slice(0, -1) : whole;
}
