/** Calls at the same time by their key, counted in this replica: the process of an image is not trusted to count its own. */
export type ImageSlots = {
  /** @returns undefined if the key has as many calls as it may have */
  take(key: string, limit: number): Disposable | undefined;
  /** Keys with calls. */
  readonly size: number;
};

export function createImageSlots(): ImageSlots {
  const running = new Map<string, number>();
  return {
    take(key, limit) {
      const count = running.get(key) ?? 0;
      if (count >= limit) return undefined;
      running.set(key, count + 1);
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (!isHeld) return;
          isHeld = false;
          const left = (running.get(key) ?? 1) - 1;
          if (left > 0) running.set(key, left);
          else running.delete(key);
        },
      };
    },
    get size() {
      return running.size;
    },
  };
}
