/** The data of each server-sent event. @throws on bytes that are not UTF-8 */
export async function* eventData(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let held = '';
  for await (const part of bytes) {
    held += decoder.decode(part, { stream: true });
    const frames = held.split(/\r?\n\r?\n/);
    held = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = frame.split(/\r?\n/).filter((line) => line.startsWith('data:'));
      if (lines.length > 0) yield lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n');
    }
  }
}
