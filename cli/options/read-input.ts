import { text } from 'node:stream/consumers';

/**
 * Reads standard input as one text, without its last line feed. On a terminal a prompt requests the text.
 * @param name the name of the input in the prompt, such as `the message`
 */
export async function readInput(name: string): Promise<string> {
  if (process.stdin.isTTY === true) {
    process.stderr.write(`portcullis: Type ${name}, then press Ctrl-D on an empty line.
`);
  }
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}
