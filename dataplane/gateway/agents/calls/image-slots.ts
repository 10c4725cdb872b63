/** Runs of images at the same time, counted in this replica: the process of an image is not trusted to count them. */
export type ImageSlots = {
  /** @returns undefined if the version has as many runs as it accepts */
  take(versionId: string, limit: number): Disposable | undefined;
  /** Versions with runs. */
  readonly size: number;
};

export function createImageSlots(): ImageSlots {
  const running = new Map<string, number>();
  return {
    take(versionId, limit) {
      const count = running.get(versionId) ?? 0;
      if (count >= limit) return undefined;
      running.set(versionId, count + 1);
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (!isHeld) return;
          isHeld = false;
          const left = (running.get(versionId) ?? 1) - 1;
          if (left > 0) running.set(versionId, left);
          else running.delete(versionId);
        },
      };
    },
    get size() {
      return running.size;
    },
  };
}
