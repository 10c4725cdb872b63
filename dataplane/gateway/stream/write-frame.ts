const lineFeed = 0x0a;
const prefix = Buffer.from('data: ');
const nextLine = Buffer.from('\ndata: ');
const end = Buffer.from('\n\n');

/** The frame that replaces a comment of the upstream, without the comment's text. */
export const keepAliveFrame: Buffer = Buffer.from(':\n\n');
/** The frame that ends a complete stream. */
export const doneFrame: Buffer = Buffer.from('data: [DONE]\n\n');

/**
 * A server-sent event with exactly these data bytes, one `data:` line for each of their lines.
 * @param name the name of the event, without line ends; an event without a name has no `event:` line
 */
export function writeFrame(data: Buffer, name?: string): Buffer {
  const parts: Buffer[] = name === undefined ? [prefix] : [Buffer.from(`event: ${name}\n`), prefix];
  let start = 0;
  for (let at = data.indexOf(lineFeed); at !== -1; at = data.indexOf(lineFeed, start)) {
    parts.push(data.subarray(start, at), nextLine);
    start = at + 1;
  }
  parts.push(data.subarray(start), end);
  return Buffer.concat(parts);
}
