/**
 * How many pieces are joined to one string at a time: a list of short strings takes many times the memory of their
 * characters.
 */
const piecesAtOnce = 256;

/** A text that arrives in pieces, held in about its own size. */
export class PiecewiseText {
  readonly #joined: string[] = [];
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < piecesAtOnce) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  toString(): string {
    return [...this.#joined, ...this.#pieces].join('');
  }
}
