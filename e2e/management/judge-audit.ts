import type { AuditEntry } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import type { RunningManagement } from './start-management.ts';

type JudgedAudit = { readonly entries: number; readonly accepted: number; readonly faults: readonly string[] };

/**
 * Compares the audit log with the commands: the chain is unbroken, every answered command has exactly one entry
 * `accepted` and one entry for its end, and no entry belongs to a command that was not accepted.
 * @param answered operations of commands that were answered with 202
 */
export async function judgeAudit(api: RunningManagement, answered: readonly string[]): Promise<JudgedAudit> {
  const { json } = await api.call('/api/v1/audit/chains');
  const verifier = createAuditVerifier(json.items);
  const entries: AuditEntry[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await api.call(`/api/v1/audit?order=oldest&limit=500${next}`);
    for (const entry of page.json.items) verifier.add(entry);
    entries.push(...page.json.items);
    cursor = page.json.nextCursor;
  }
  const idsOf = (...outcomes: readonly string[]): readonly string[] =>
    entries.flatMap(({ content }) =>
      outcomes.includes(content.outcome) && content.operationId !== null ? [content.operationId] : [],
    );
  const accepted = idsOf('accepted');
  const ended = idsOf('succeeded', 'failed');
  const rows = await api.database.database.sql<{ operation_id: string; accepted: boolean }[]>`
    select operation_id, accepted from management.operations`;
  const stored = rows.filter((row) => row.accepted).map((row) => row.operation_id);
  const faults = verifier.end().map(({ chain, number, problem }) => `${chain} ${number}: ${problem}`);
  faults.push(...repeated(accepted).map((id) => `${id} has several entries accepted`));
  faults.push(...repeated(ended).map((id) => `${id} has several ends`));
  faults.push(...without(answered, accepted).map((id) => `${id} was answered and has no entry`));
  faults.push(...without(answered, ended).map((id) => `${id} was answered and has no end`));
  faults.push(...without(accepted, stored).map((id) => `${id} has an entry and was not accepted`));
  faults.push(...without(stored, accepted).map((id) => `${id} was accepted and has no entry`));
  const observed = entries.filter(({ content }) => content.outcome === 'observed');
  const creations = creationsOf(entries);
  const foreign = observed.filter((entry) => !creations.has(entry));
  faults.push(...foreign.map(({ number }) => `entry ${number} takes a command of the API for a change from outside`));
  return { entries: entries.length, accepted: accepted.length, faults };
}

/**
 * The creation of a model as a resource is one observed application without a policy, before the first command about
 * the model.
 */
function creationsOf(entries: readonly AuditEntry[]): ReadonlySet<AuditEntry> {
  const ofTarget = Map.groupBy(entries, ({ content }) => content.target?.id);
  const firsts = [...ofTarget.values()].flatMap((all) =>
    all.toSorted((a, b) => a.content.time.localeCompare(b.content.time) || a.number - b.number).slice(0, 1),
  );
  return new Set(firsts.filter(({ content }) => content.outcome === 'observed' && content.action === 'binding.unbind'));
}

function repeated(ids: readonly string[]): readonly string[] {
  return [...Map.groupBy(ids, (id) => id)].filter(([, all]) => all.length > 1).map(([id]) => id);
}

function without(ids: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return ids.filter((id) => !known.has(id));
}
