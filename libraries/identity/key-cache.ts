import type { Clock } from '#kit/time/clock';
import { KeysError, type PublicKeys } from './public-keys.ts';

export type KeyCacheOptions = {
  readonly load: () => Promise<PublicKeys>;
  readonly clock: Clock;
  /** Keys of this age are loaded again, while the old ones are still used, milliseconds. */
  readonly freshMs: number;
  /** Keys of this age are not used any more: an issuer takes a key back by no longer publishing it, milliseconds. */
  readonly usableMs: number;
  /** An unknown key makes nobody load again before this time has passed since the last load, milliseconds. */
  readonly unknownMs: number;
  /** A failed load is not tried again before this time has passed, milliseconds. */
  readonly failedMs: number;
};

/** For a JWKS that is fetched. */
export const fetchedKeyTimes = { freshMs: 300_000, usableMs: 900_000, unknownMs: 30_000, failedMs: 2_000 } as const;
/** For a JWKS in a mounted file. */
export const mountedKeyTimes = { freshMs: 1_000, usableMs: 1_000, unknownMs: 1_000, failedMs: 1_000 } as const;

type Loaded = { readonly keys: PublicKeys; readonly at: number };

/** The keys of one issuer: loaded when they are asked for, one load at a time. Nothing happens while nobody asks. */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  #loaded: Loaded | undefined;
  #loading: Promise<PublicKeys> | undefined;
  #failedAt: number | undefined;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /**
   * Keys among which the named one is, where the issuer publishes it.
   * @throws KeysError where that cannot be known
   */
  async keysFor(kid: string | undefined): Promise<PublicKeys> {
    const { freshMs, usableMs, unknownMs } = this.#options;
    const loaded = this.#loaded;
    const age = loaded === undefined ? Number.POSITIVE_INFINITY : this.#options.clock.now() - loaded.at;
    if (loaded === undefined || age >= usableMs) return this.#load();
    if (kid !== undefined && !loaded.keys.has(kid) && age >= unknownMs) return this.#load();
    if (age >= freshMs) this.#load().catch(() => undefined);
    return loaded.keys;
  }

  async #load(): Promise<PublicKeys> {
    const { clock, failedMs } = this.#options;
    if (this.#failedAt !== undefined && clock.now() - this.#failedAt < failedMs) {
      throw new KeysError('the JWKS could not be had a moment ago');
    }
    this.#loading ??= this.#options
      .load()
      .then(
        (keys) => {
          this.#loaded = { keys, at: clock.now() };
          this.#failedAt = undefined;
          return keys;
        },
        (error: unknown) => {
          this.#failedAt = clock.now();
          throw error;
        },
      )
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }
}
