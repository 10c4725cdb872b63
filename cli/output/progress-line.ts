/** One line on standard error with the progress of a command; it is written only to a terminal. */
type ProgressLine = Disposable & { readonly show: (text: string) => void };

/** Disposing removes the line, so that it does not mix with the result. */
export function openProgressLine(terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr): ProgressLine {
  let shown = false;
  return {
    show(text) {
      if (!terminal.isTTY) return;
      terminal.write(`\r\u{1b}[K${text}`);
      shown = true;
    },
    [Symbol.dispose]() {
      if (shown) terminal.write('\r\u{1b}[K');
      shown = false;
    },
  };
}
