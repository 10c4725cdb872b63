/** A pause that can be ended early. Its signal is that of the present pause; the next one has another. */
type Nap = { readonly signal: AbortSignal; readonly end: () => void };

/** A nap that is ended between the taking of its signal and the wait ends that wait at once: no call is lost. */
export function createNap(): Nap {
  let present = new AbortController();
  return {
    get signal() {
      return present.signal;
    },
    end() {
      const ended = present;
      present = new AbortController();
      ended.abort();
    },
  };
}
