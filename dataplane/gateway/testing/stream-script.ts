/** Builders of streamed answers for tests: provider chunks, split at the byte positions that a test chooses. */

const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'scripted' };

/** JSON of one chunk with a delta; an unpaired surrogate is written as an escape. */
export function chunkJson(delta: Readonly<Record<string, unknown>>, finishReason: string | null = null): string {
  return JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

/** One server-sent event with these data. */
export function dataEvent(data: string, lineEnd = '\n'): string {
  return `data: ${data}${lineEnd}${lineEnd}`;
}

/** The whole stream of an answer whose content arrives in these pieces. */
export function contentStream(pieces: readonly string[], lineEnd = '\n'): string {
  const chunks = [
    chunkJson({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunkJson({ content })),
    chunkJson({}, 'stop'),
    '[DONE]',
  ];
  return chunks.map((chunk) => dataEvent(chunk, lineEnd)).join('');
}

/** The data of each event in the bytes that a gateway sent, parsed as simply as a client may do it. */
export function eventsOf(emitted: string): string[] {
  return emitted.split('\n\n').flatMap((event) => {
    const lines = event.split('\n').filter((line) => line.startsWith('data: '));
    return lines.length === 0 ? [] : [lines.map((line) => line.slice('data: '.length)).join('\n')];
  });
}

/** The content that a client assembles from these events. */
export function contentOf(events: readonly string[]): string {
  return events
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as { choices?: { delta?: { content?: string | null } }[] })
    .map((chunk) => chunk.choices?.[0]?.delta?.content ?? '')
    .join('');
}
