/**
 * Ids in the order of the list, the newest first. UUIDs of version 7 begin with their time, so that a policy that is
 * created during a walk through the pages sorts before the position of the walk.
 */
export class PolicyOrder {
  /** Descending. */
  readonly #ids: string[] = [];

  get size(): number {
    return this.#ids.length;
  }

  has(id: string): boolean {
    return this.#ids[this.#positionOf(id)] === id;
  }

  add(id: string): void {
    const position = this.#positionOf(id);
    if (this.#ids[position] !== id) this.#ids.splice(position, 0, id);
  }

  remove(id: string): void {
    const position = this.#positionOf(id);
    if (this.#ids[position] === id) this.#ids.splice(position, 1);
  }

  /** At most `limit` ids after `after`, or from the start if `after` is absent, and whether more ids follow. */
  page(after: string | undefined, limit: number): { readonly ids: readonly string[]; readonly more: boolean } {
    const found = after === undefined ? 0 : this.#positionOf(after);
    const start = after !== undefined && this.#ids[found] === after ? found + 1 : found;
    return { ids: this.#ids.slice(start, start + limit), more: this.#ids.length > start + limit };
  }

  /** The first position whose id is not greater than the given id. */
  #positionOf(id: string): number {
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] as string) > id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
