/**
 * Ids in the order of the list: the newest first. UUIDs of version 7 begin with their time, so what is made while
 * somebody walks through the pages comes before the place where the walk is.
 */
export class PolicyOrder {
  /** Descending. */
  readonly #ids: string[] = [];

  get size(): number {
    return this.#ids.length;
  }

  add(id: string): void {
    const place = this.#placeOf(id);
    if (this.#ids[place] !== id) this.#ids.splice(place, 0, id);
  }

  remove(id: string): void {
    const place = this.#placeOf(id);
    if (this.#ids[place] === id) this.#ids.splice(place, 1);
  }

  /** At most `limit` ids behind `after`, from the beginning where it is absent, and whether more follow. */
  page(after: string | undefined, limit: number): { readonly ids: readonly string[]; readonly more: boolean } {
    const found = after === undefined ? 0 : this.#placeOf(after);
    const start = after !== undefined && this.#ids[found] === after ? found + 1 : found;
    return { ids: this.#ids.slice(start, start + limit), more: this.#ids.length > start + limit };
  }

  /** The first place whose id is not above this one. */
  #placeOf(id: string): number {
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
