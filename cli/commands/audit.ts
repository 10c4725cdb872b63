import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AuditChain, type AuditEntry, auditActions, auditGenesis, auditOutcomes } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import { auditTable } from '../audit/audit-text.ts';
import { type AuditFilters, readAudit, readChains, readExport } from '../audit/read-audit.ts';
import { CliError } from '../errors/cli-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import type { ManagementConnection } from '../management/send-request.ts';
import { filteredTarget, shownTargetNames } from '../management/target-names.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withJson, withUnnamedOutput, writeResult } from '../output/format.ts';
import { writeText } from '../output/write.ts';

type FilterOptions = ManagementCommandOptions & {
  readonly action?: string;
  readonly outcome?: string;
  readonly subject?: string;
  readonly target?: string;
  readonly operation?: string;
  readonly chain?: string;
  readonly since?: string;
  readonly until?: string;
};

export function addAudit(program: Command): void {
  const audit = program.command('audit').description('list, export and verify the audit log of changes and refusals');
  withUnnamedOutput(withFilters(audit.command('list')))
    .description('show the newest entries')
    .option('--limit <number>', 'maximum number of entries', wholeNumber(1, 10_000), 20)
    .action(list);
  withFilters(audit.command('export')).description('write entries as JSON lines, the oldest first').action(exportLines);
  withJson(withManagementOptions(audit.command('verify')))
    .description('prove that no entry was changed or removed; name the first broken one')
    .option('--file <file>', 'prove an export instead')
    .option('--known <head>', 'head of an earlier verification, chain:number:hash, that must still be there', readHead)
    .action(verify);
}

function withFilters(command: Command): Command {
  return withManagementOptions(command)
    .addOption(new Option('--action <action>', 'only entries about this action').choices([...auditActions]))
    .addOption(new Option('--outcome <outcome>', 'only entries with this outcome').choices([...auditOutcomes]))
    .option('--subject <subject>', 'only entries whose author has this subject')
    .option(
      '--target <target>',
      'only entries about this policy, model or agent, by its name, or about the object with this id',
    )
    .option('--operation <id>', 'only entries of this command')
    .option('--chain <service>', 'only entries of this service')
    .option('--since <time>', 'only entries at or after this time, such as 2026-01-31T00:00:00Z')
    .option('--until <time>', 'only entries before this time');
}

async function filtersOf(connection: ManagementConnection, options: FilterOptions) {
  const { action, outcome, subject, target, operation: operationId, chain, since, until } = options;
  const { id: targetId, doubt = '' } = target === undefined ? {} : await filteredTarget(connection, target);
  const filters: AuditFilters = { action, outcome, subject, targetId, operationId, chain, since, until };
  return { filters, doubt };
}

async function list(options: FilterOptions & OutputOptions & { readonly limit: number }): Promise<void> {
  const { connection } = openManagement(options);
  const items: AuditEntry[] = [];
  const { filters, doubt } = await filtersOf(connection, options);
  for await (const entry of readAudit(connection, filters, { order: 'newest', most: options.limit })) {
    items.push(entry);
  }
  const targets = items.flatMap(({ content }) => (content.target === null ? [] : [content.target]));
  const nameOf = await shownTargetNames(connection, formatOf(options), targets);
  writeResult(formatOf(options), { items }, (isWide) =>
    items.length === 0 ? `There is no such entry.${doubt}` : auditTable(items, nameOf, isWide),
  );
}

async function exportLines(options: FilterOptions): Promise<void> {
  const { connection } = openManagement(options);
  const { filters } = await filtersOf(connection, options);
  for await (const entry of readAudit(connection, filters, { order: 'oldest' })) {
    writeText(JSON.stringify(entry));
  }
}

type Head = { readonly chain: string; readonly number: number; readonly hash: string };
type VerifyOptions = ManagementCommandOptions & {
  readonly json?: boolean;
  readonly file?: string;
  readonly known?: Head;
};

async function verify(options: VerifyOptions): Promise<void> {
  const { file, known } = options;
  const proof = file === undefined ? await proveServer(options) : proveFile(file, known);
  const { chains, breaks, entries } = proof;
  const [first] = breaks;
  if (first !== undefined) {
    const more = breaks.length > 1 ? ` ${breaks.length - 1} more chains are broken.` : '';
    throw new CliError(
      'failed',
      `The chain ${first.chain} is broken at entry ${first.number}: ${first.problem}.${more}`,
    );
  }
  const heads = chains.map(({ chain, newest }) => `${chain}:${newest.number}:${newest.hash}`);
  writeResult(formatOf(options), { entries, heads }, () =>
    [`${entries} entries are unchanged. Keep the heads, and pass them with --known later:`, ...heads].join('\n'),
  );
}

/** The chains are read first: entries that are added meanwhile are also proved, and may be missing. */
async function proveServer(options: VerifyOptions) {
  const { connection } = openManagement(options);
  for (let attempt = 1; ; attempt++) {
    const chains = await readChains(connection);
    const proof = createProof(chains, options.known);
    for await (const entry of readAudit(connection, {}, { order: 'oldest' })) proof.add(entry);
    const result = proof.end();
    const now = await readChains(connection);
    const isRemoved = now.some(
      ({ chain, removed }) => removed.number !== chains.find((one) => one.chain === chain)?.removed.number,
    );
    // Retention removed entries while they were read, so that the proof starts again.
    if (!isRemoved || attempt > 3) return result;
  }
}

function proveFile(file: string, known: Head | undefined) {
  const entries = readExport(file);
  const chains = [...Map.groupBy(entries, ({ chain }) => chain)].map(([chain, own]) => chainOf(chain, own));
  const proof = createProof(chains, known, { isPart: true });
  for (const entry of entries) proof.add(entry);
  return proof.end();
}

/** The chain of an export: entries before its first entry are not in the file. */
function chainOf(chain: string, own: readonly AuditEntry[]): AuditChain {
  const [first, last] = [own[0], own.at(-1)];
  return {
    chain,
    removed: { number: (first?.number ?? 1) - 1, hash: first?.previous ?? auditGenesis },
    newest: { number: last?.number ?? 0, hash: last?.hash ?? auditGenesis },
  };
}

function createProof(chains: readonly AuditChain[], known: Head | undefined, form = { isPart: false }) {
  const verifier = createAuditVerifier(chains, form);
  let entries = 0;
  let found = known === undefined;
  return {
    add(entry: AuditEntry): void {
      entries += 1;
      if (known?.chain === entry.chain && known.number === entry.number) found = known.hash === entry.hash;
      verifier.add(entry);
    },
    end() {
      const breaks = [...verifier.end()];
      if (known === undefined || found) return { chains, breaks, entries };
      const removed = chains.find(({ chain }) => chain === known.chain)?.removed;
      if (removed?.number === known.number && removed.hash === known.hash) return { chains, breaks, entries };
      const isGone = removed !== undefined && known.number < removed.number;
      const problem = isGone
        ? 'it was removed, so it proves nothing about the remaining entries: pass a newer head'
        : 'it is not the entry that was known before';
      breaks.unshift({ chain: known.chain, number: known.number, problem });
      return { chains, breaks, entries };
    },
  };
}

function readHead(text: string): Head {
  const [, chain, number, hash] = /^([a-z-]+):(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (chain !== undefined && number !== undefined && hash !== undefined) return { chain, number: Number(number), hash };
  throw new InvalidArgumentError('It must be chain:number:hash, as "portcullis audit verify" prints it.');
}
