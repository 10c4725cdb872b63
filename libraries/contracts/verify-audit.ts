import { type AuditChain, type AuditEntry, auditHash } from './audit.ts';

/** The first changed place of a chain. */
type AuditBreak = { readonly chain: string; readonly number: number; readonly problem: string };

type Progress = { number: number; hash: string; retained: string | undefined };

/**
 * Proves chains of audit entries: every hash, every link, and that no entry is missing between the entries that
 * retention removed and the newest entry in the list of chains.
 * @param chains the list of chains, which must be read before the entries
 * @param form isPart: earlier entries were left out, and it is not proved that retention removed them
 */
export function createAuditVerifier(
  chains: readonly AuditChain[],
  form = { isPart: false },
): {
  /** Takes the entries of all chains, each chain in the order of its numbers. */
  readonly add: (entry: AuditEntry) => void;
  /** The first break of each chain that has one. Must be called after the last entry. */
  readonly end: () => readonly AuditBreak[];
} {
  const known = new Map(chains.map((one) => [one.chain, one]));
  const progress = new Map<string, Progress>();
  const breaks = new Map<string, AuditBreak>();
  const report = (chain: string, number: number, problem: string): void => {
    if (!breaks.has(chain)) breaks.set(chain, { chain, number, problem });
  };

  function add(entry: AuditEntry): void {
    const { chain, number } = entry;
    const listed = known.get(chain);
    if (listed === undefined) {
      report(chain, number, 'the list of chains does not name its chain');
      return;
    }
    const at = progress.get(chain) ?? { ...listed.removed, retained: undefined };
    const problem = problemOf(entry, at);
    if (problem !== undefined) report(chain, Math.min(number, at.number + 1), problem);
    if (number === listed.newest.number && entry.hash !== listed.newest.hash) {
      report(chain, number, 'the chain ends with a different entry of this number than recorded');
    }
    const isRetention = entry.content.action === 'audit.retain';
    const retained = isRetention ? (entry.content.after?.digest ?? undefined) : at.retained;
    progress.set(chain, { number, hash: entry.hash, retained });
  }

  function end(): readonly AuditBreak[] {
    for (const { chain, removed, newest } of chains) {
      const at = progress.get(chain) ?? { ...removed, retained: undefined };
      if (at.number < newest.number) report(chain, at.number + 1, 'it and the entries after it are missing');
      if (!form.isPart && removed.number > 0 && at.retained !== removed.hash) {
        report(chain, removed.number, 'it was removed, and no entry of retention records that');
      }
    }
    return [...breaks.values()];
  }

  return { add, end };
}

function problemOf(entry: AuditEntry, { number, hash }: Progress): string | undefined {
  if (entry.number !== number + 1) return entry.number > number ? 'it is missing' : 'its number occurs twice';
  if (entry.previous !== hash) return 'it does not name the hash of the entry before it';
  return entry.hash === auditHash(entry) ? undefined : 'its content was changed';
}
