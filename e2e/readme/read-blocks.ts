/** One command of a document with the output that is printed below the command. */
type PrintedCommand = { readonly line: number; readonly command: string; readonly output: string };

type Block = {
  /** The words after the opening fence, such as `console python`. */
  readonly label: string;
  readonly line: number;
  readonly text: string;
};

/** The fenced blocks of a Markdown document, in order. */
export function readBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { label: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === undefined) open = { label: fence[1] ?? '', line: index + 1, lines: [] };
    else {
      blocks.push({ label: open.label, line: open.line, text: open.lines.join('\n') });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`the block of line ${open.line} is never closed`);
  return blocks;
}

/** The commands of a console block: a line that begins with `$ `, then its output until the next command. */
export function readCommands({ line, text }: Block): readonly PrintedCommand[] {
  const commands: { line: number; command: string; output: string[] }[] = [];
  for (const [index, each] of text.split('\n').entries()) {
    if (each.startsWith('$ ')) commands.push({ line: line + index + 1, command: each.slice(2), output: [] });
    else commands.at(-1)?.output.push(each);
  }
  return commands.map(({ output, ...rest }) => ({ ...rest, output: output.join('\n') }));
}

/** Whether an output equals the printed output; `…` in the printed output matches any text within a line. */
export function isPrinted(printed: string, output: string): boolean {
  const pattern = printed.split('…').map(RegExp.escape).join('.*');
  return new RegExp(`^${pattern}$`, 'u').test(output);
}
