import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { memoryLimits } from '#contracts/memory';
import { CliError } from '../errors/cli-error.ts';
import { awaitEvent } from '../memory/await-event.ts';
import { deleteByIds } from '../memory/delete-by-ids.ts';
import type { ListedMemory, MemoryClient, MemoryEvent } from '../memory/memory-client.ts';
import { type MemoryOptions, namedPerson, openMemoryClient, withMemoryOptions } from '../memory/memory-options.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { readJsonObject } from '../options/json-object.ts';
import { readTime } from '../options/time-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import {
  formatOf,
  type OutputOptions,
  waitProgressOn,
  withOutput,
  withUnnamedOutput,
  writeResult,
} from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';
import { addMemorySession } from './memory-session.ts';

type Options = MemoryOptions & OutputOptions;
type ScopeOptions = Options & { readonly agent?: string; readonly run?: string };
type AddOptions = ScopeOptions & {
  readonly role: 'user' | 'assistant';
  readonly infer: boolean;
  readonly expires?: string;
  readonly category?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
};
type SearchOptions = ScopeOptions & {
  readonly topK: number;
  readonly budget?: number;
  readonly mode: 'hybrid' | 'semantic' | 'bm25';
};

export function addMemory(program: Command): void {
  const memory = program
    .command('memory')
    .description('memories of a person, extracted from the messages of the person');
  const add = withScope(
    memory.command('add').description('send messages and show which facts were added, changed or ignored'),
  )
    .argument('<messages...>', 'text of each message')
    .addOption(new Option('--role <role>', 'role of the sender').choices(['user', 'assistant']).default('user'))
    .option('--no-infer', 'keep each message unchanged instead of extracting facts')
    .option('--expires <time>', 'expiry of these memories, such as 2026-12-24T00:00:00Z', readTime)
    .option(
      '--category <name>',
      'category of these memories, can be repeated',
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option('--metadata <json>', 'metadata of these memories, a JSON object', readJsonObject);
  withOutput(withMemoryOptions(add)).action(addMessages);
  const search = withScope(memory.command('search').description('find the memories that match a question'))
    .argument('<query>', 'question or words')
    .option(
      '--top-k <number>',
      'maximum number of memories',
      wholeNumber(memoryLimits.topK.min, memoryLimits.topK.max),
      10,
    )
    .option('--budget <tokens>', 'maximum number of tokens', wholeNumber(1, memoryLimits.tokenBudget.max))
    .addOption(new Option('--mode <mode>', 'search mode').choices(['hybrid', 'semantic', 'bm25']).default('hybrid'));
  withOutput(withMemoryOptions(search)).action(searchFor);
  const list = withScope(memory.command('list').description('list memories, the newest first')).option(
    '--limit <number>',
    'maximum number of memories',
    wholeNumber(1, 10_000),
    50,
  );
  withOutput(withMemoryOptions(list)).action(listAll);
  const get = memory.command('get').description('show a memory and its source').argument('<id>', 'id of the memory');
  withOutput(withMemoryOptions(get)).action(show);
  const update = memory
    .command('update')
    .description('replace the text of a memory')
    .argument('<id>', 'id of the memory')
    .argument('<text>', 'new text');
  withOutput(withMemoryOptions(update)).action(change);
  const remove = withScope(
    memory.command('delete').description('delete memories by their ids, or a whole scope with its history'),
  ).argument('[ids...]', 'ids of memories');
  withConfirm(withOutput(withMemoryOptions(remove))).action(deleteThem);
  const event = memory
    .command('event')
    .description('show the state of an add, and which facts it added, changed or ignored')
    .argument('<id>', 'id of the add');
  withOutput(withMemoryOptions(event)).action(showEvent);
  const history = memory
    .command('history')
    .description('show every change of a memory')
    .argument('<id>', 'id of the memory');
  withUnnamedOutput(withMemoryOptions(history)).action(showHistory);
  const exporting = memory.command('export').description('export all data that the service stores about a person');
  withUnnamedOutput(withMemoryOptions(exporting)).action(exportAll);
  const erase = memory.command('erase').description('erase a person: memories, history, events and states of sessions');
  withConfirm(withUnnamedOutput(withMemoryOptions(erase))).action(eraseAll);
  addMemorySession(memory);
}

function withScope(command: Command): Command {
  return command.option('--agent <id>', 'agent that remembers').option('--run <id>', 'run of the agent');
}

async function addMessages(messages: readonly string[], options: AddOptions): Promise<void> {
  const { agent, run, role, infer } = options;
  if (agent === undefined && run === undefined) {
    throw new CliError('usage', 'Name the scope of the memories: --agent ID, --run ID or both.');
  }
  const client = openMemoryClient(options);
  const body = {
    ...scopeOf(options),
    ...labelsOf(options),
    infer,
    messages: messages.map((content) => ({ role, content })),
  };
  const { event_id } = await client.add(body, randomUUID());
  waitProgressOn(process.stderr, formatOf(options))(`The add ${event_id} is accepted and being processed.`);
  const event = await awaitEvent(client, event_id, options.requestTimeout * 1_000);
  if (event.status === 'PENDING') {
    throw new CliError(
      'timeout',
      `The add ${event_id} has not ended yet: it is processed when its dependencies answer. ` +
        `"portcullis memory event ${event_id}" shows its outcome.`,
    );
  }
  if (event.status === 'FAILED')
    throw new CliError('failed', `The add failed: ${event.error ?? 'no reason is known'}.`);
  await writeEvent(client, event, options);
}

function labelsOf({ expires, category, metadata }: AddOptions) {
  return {
    ...(expires === undefined ? {} : { expires_at: expires }),
    ...(category === undefined ? {} : { categories: [...category] }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

async function showEvent(id: string, options: Options): Promise<void> {
  const client = openMemoryClient(options);
  await writeEvent(client, await client.getEvent(id), options);
}

async function writeEvent(client: MemoryClient, event: MemoryEvent, options: Options): Promise<void> {
  const texts = await textsOf(client, event);
  writeNamed(formatOf(options), { value: event, names: event.memory_ids, text: () => eventText(event, texts) });
}

async function textsOf(client: MemoryClient, { memory_ids }: MemoryEvent): Promise<ReadonlyMap<string, string>> {
  const records = await Promise.all(memory_ids.map((id) => client.get(id).catch(() => undefined)));
  return new Map(records.flatMap((record) => (record === undefined ? [] : [[record.id, record.memory]])));
}

function eventText({ status, error, decisions }: MemoryEvent, texts: ReadonlyMap<string, string>): string {
  if (status === 'PENDING') return 'The add has not ended yet.';
  if (status === 'FAILED') return `The add failed: ${error ?? 'no reason is known'}.`;
  if (decisions.length === 0) return 'The messages contain no fact to store.';
  return decisions
    .map(({ decision, memory_id, reason }) => [decision, texts.get(memory_id ?? '') ?? memory_id ?? '', `(${reason})`])
    .map((words) => words.filter((word) => word !== '').join(' '))
    .join('\n');
}

async function searchFor(query: string, options: SearchOptions): Promise<void> {
  const { topK, budget, mode } = options;
  const found = await openMemoryClient(options).search({
    query,
    mode,
    top_k: topK,
    filters: scopeOf(options),
    ...(budget === undefined ? {} : { token_budget: budget }),
  });
  const text = (isWide: boolean): string =>
    found.results.length === 0
      ? 'No memory matches.'
      : found.results
          .map(({ id, memory, score }) => `${isWide ? `${id}  ` : ''}${memory} (${score.toFixed(2)})`)
          .join('\n');
  writeNamed(formatOf(options), { value: found, names: found.results.map(({ id }) => id), text });
}

async function listAll(options: ScopeOptions & { readonly limit: number }): Promise<void> {
  const { agent, run, limit } = options;
  const client = openMemoryClient(options);
  const person = namedPerson(options);
  if (person === undefined && agent === undefined && run === undefined) {
    throw new CliError('usage', 'With --token-file, name the scope of the memories: --agent ID, --run ID or both.');
  }
  const scope = { ...(agent === undefined ? {} : { agent }), ...(run === undefined ? {} : { run }) };
  const items = await client.list(scope, person, limit);
  const text = (isWide: boolean): string => (items.length === 0 ? 'There is no memory.' : memoryTable(items, isWide));
  writeNamed(formatOf(options), { value: { items }, names: items.map((item) => item.id), text });
}

function memoryTable(memories: readonly ListedMemory[], isWide: boolean): string {
  const header = ['MEMORY', 'TEXT', 'AGENT'];
  return tableOf([
    isWide ? [...header, 'RUN', 'CREATED', 'UPDATED'] : header,
    ...memories.map(({ id, memory, agent_id, run_id, created_at, updated_at }) => {
      const row = [id, memory.replace(/\s+/g, ' '), agent_id ?? ''];
      return isWide ? [...row, run_id ?? '', created_at, updated_at] : row;
    }),
  ]);
}

async function show(id: string, options: Options): Promise<void> {
  const record = await openMemoryClient(options).get(id);
  writeRecord(record, options);
}

async function change(id: string, text: string, options: Options): Promise<void> {
  const record = await openMemoryClient(options).update(id, text);
  writeRecord(record, options);
}

function writeRecord(record: ListedMemory, options: Options): void {
  const text = (isWide: boolean): string => memoryTable([record], isWide);
  writeNamed(formatOf(options), { value: record, names: [record.id], text });
}

async function deleteThem(ids: readonly string[], options: ScopeOptions & ConfirmOption): Promise<void> {
  const { agent, run } = options;
  const client = openMemoryClient(options);
  if (ids.length > 0) {
    if (agent !== undefined || run !== undefined) {
      throw new CliError('usage', 'Name ids or a scope, not both: leave out the ids, or --agent and --run.');
    }
    return deleteByIds(client, ids, formatOf(options));
  }
  if (agent === undefined && run === undefined) {
    throw new CliError('usage', 'Name the memories to delete: ids, --agent ID or --run ID.');
  }
  if (formatOf(options) === 'name') {
    throw new CliError('usage', 'The deletion of a scope has no ids to write: choose -o json or -o jsonpath=….');
  }
  await confirm(['All memories of this scope are deleted with their history; this cannot be undone.'], options);
  const scope = { ...(agent === undefined ? {} : { agent }), ...(run === undefined ? {} : { run }) };
  const deleted = await client.deleteScope(scope);
  const { deleted_count, cancelled_events, confirmation_id } = deleted;
  writeResult(
    formatOf(options),
    deleted,
    () => `${deleted_count} memories permanently deleted, ${cancelled_events} adds cancelled (${confirmation_id}).`,
  );
}

async function showHistory(id: string, options: Options): Promise<void> {
  const items = await openMemoryClient(options).history(id);
  writeResult(formatOf(options), { items }, () =>
    tableOf([
      ['EVENT', 'TIME', 'BEFORE', 'AFTER'],
      ...items.map(({ event, created_at, old_memory, new_memory }) => [
        event,
        created_at,
        old_memory ?? '',
        new_memory ?? '',
      ]),
    ]),
  );
}

async function exportAll(options: Options): Promise<void> {
  const pages = await Array.fromAsync(openMemoryClient(options).export());
  const exported = {
    user_id: pages[0]?.user_id,
    exported_at: pages[0]?.exported_at,
    memories: pages.flatMap(({ memories }) => memories),
    history: pages.flatMap(({ history }) => history),
    events: pages.flatMap(({ events }) => events),
    sessions: pages.flatMap(({ sessions }) => sessions),
    deletions: pages.flatMap(({ deletions }) => deletions),
  };
  writeResult(formatOf(options), exported, () => JSON.stringify(exported, undefined, 2));
}

async function eraseAll(options: Options & ConfirmOption): Promise<void> {
  const client = openMemoryClient(options);
  const person = namedPerson(options) ?? (await client.whoAmI());
  await confirm([`All data that the service stores about ${person} is erased; this cannot be undone.`], options);
  const erased = await client.erase(person);
  writeResult(
    formatOf(options),
    erased,
    () => `Erased ${erased.memories} memories and ${erased.sessions} states of sessions (${erased.confirmation_id}).`,
  );
}

function scopeOf({ agent, run }: ScopeOptions) {
  return { ...(agent === undefined ? {} : { agent_id: agent }), ...(run === undefined ? {} : { run_id: run }) };
}
