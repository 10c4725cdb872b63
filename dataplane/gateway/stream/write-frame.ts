const lineFeed = 0x0a;
const prefix = Buffer.from('data: ');
const nextLine = Buffer.from('\ndata: ');
const end = Buffer.from('\n\n');

/** The frame of a comment that the upstream sent to keep the connection open; its text stays behind. */
export const keepAliveFrame: Buffer = Buffer.from(':\n\n');
/** The frame after which a stream is whole. */
export const doneFrame: Buffer = Buffer.from('data: [DONE]\n\n');

/** One event with exactly these data bytes, one `data:` line for each line of them. */
export function writeFrame(data: Buffer): Buffer {
  const parts: Buffer[] = [prefix];
  let start = 0;
  for (let at = data.indexOf(lineFeed); at !== -1; at = data.indexOf(lineFeed, start)) {
    parts.push(data.subarray(start, at), nextLine);
    start = at + 1;
  }
  parts.push(data.subarray(start), end);
  return Buffer.concat(parts);
}
