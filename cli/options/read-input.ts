import { text } from 'node:stream/consumers';

/**
 * Standard input as one text, without its last line feed. A person at a terminal is told what the command waits for.
 * @param what what is typed, such as `the message`
 */
export async function readInput(what: string): Promise<string> {
  if (process.stdin.isTTY === true) {
    process.stderr.write(`portcullis: Type ${what}, and end it with Ctrl-D on a line of its own.\n`);
  }
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}
