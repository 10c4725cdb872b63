import type { Clock } from '#kit/time/clock';
import { fetchKeys, readKeysFile } from './fetch-keys.ts';
import { KeysError, type PublicKeys } from './public-keys.ts';

type KeyCacheOptions = {
  readonly load: () => Promise<PublicKeys>;
  readonly clock: Clock;
  /** Age at which keys are loaded again in the background, milliseconds. */
  readonly freshMs: number;
  /** Age at which keys are no longer used, milliseconds: an issuer revokes a key by no longer publishing it. */
  readonly usableMs: number;
  /** Shortest time between a load and the next load for an unknown key, milliseconds. */
  readonly unknownMs: number;
  /** Shortest time between a failed load and the next load, milliseconds. */
  readonly failedMs: number;
};

/** Makes the cache of a key set (JWKS) at a URL. */
const fetchedKeyTimes = { freshMs: 300_000, usableMs: 900_000, unknownMs: 30_000, failedMs: 2_000 } as const;
/** Makes the cache of a key set (JWKS) in a mounted file. */
const mountedKeyTimes = { freshMs: 1_000, usableMs: 1_000, unknownMs: 1_000, failedMs: 1_000 } as const;

/** The location of a key set: a URL, the path of a mounted file, or a cache that this process already has. */
export type KeyPlace = URL | { readonly file: string } | { readonly cache: KeyCache };

export function openKeyCache(place: KeyPlace, clock: Clock): KeyCache {
  if ('cache' in place) return place.cache;
  if (place instanceof URL) return new KeyCache({ load: () => fetchKeys(place), clock, ...fetchedKeyTimes });
  return new KeyCache({ load: () => readKeysFile(place.file), clock, ...mountedKeyTimes });
}

type Loaded = { readonly keys: PublicKeys; readonly at: number };

/** The keys of one issuer, loaded on demand, one load at a time. */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  #loaded: Loaded | undefined;
  #loading: Promise<PublicKeys> | undefined;
  #failedAt: number | undefined;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /**
   * Returns the current keys, and loads them again if the key with the given id is unknown.
   * @throws KeysError if they cannot be loaded
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

  /**
   * Keys for a token that names no key and that the used keys do not verify; undefined if the used keys are the current
   * ones and were loaded too recently to be loaded again.
   * @throws KeysError if they cannot be loaded
   */
  async keysAfter(used: PublicKeys): Promise<PublicKeys | undefined> {
    const loaded = this.#loaded;
    if (loaded !== undefined && loaded.keys !== used) return loaded.keys;
    const age = loaded === undefined ? Number.POSITIVE_INFINITY : this.#options.clock.now() - loaded.at;
    return age >= this.#options.unknownMs ? this.#load() : undefined;
  }

  async #load(): Promise<PublicKeys> {
    const { clock, failedMs } = this.#options;
    if (this.#failedAt !== undefined && clock.now() - this.#failedAt < failedMs) {
      throw new KeysError('the last attempt to load the JWKS failed');
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
