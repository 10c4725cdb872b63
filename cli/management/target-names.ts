import { managedAgentListSchema } from '#contracts/managed-agents';
import { resourceIdSchema } from '#contracts/management';
import { ownRightsSchema } from '#contracts/rights';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { type Format, isForPeople } from '../output/format.ts';
import { ManagementApiError } from './management-error.ts';
import { openResourceReader } from './resource-reader.ts';
import { type ManagementConnection, sendRequest } from './send-request.ts';

type TargetType = 'policy' | 'model';
type Named = { readonly id: string; readonly name: string; readonly alias?: string };
type Names = Readonly<Record<TargetType, readonly Named[]>>;

/** Types of objects that the audit log names, each with its singular and plural noun. */
const shownTypes = {
  policy: { one: 'a policy', several: 'policies' },
  model: { one: 'a model', several: 'models' },
  agent: { one: 'an agent', several: 'agents' },
} as const;
type ShownType = keyof typeof shownTypes;
type ShownNames = Readonly<Record<ShownType, readonly Named[]>>;

/**
 * Returns the resource name of a policy, model or agent; if the object is deleted or of another type, it returns the
 * id.
 */
export type NameOfTarget = (type: string, id: string) => string;

const listers = { policy: 'get guardrailpolicies', model: 'get modelbindings' } as const;

async function readNames(connection: ManagementConnection): Promise<Names> {
  const client = await openResourceReader(connection);
  const policies = (await listAll<GuardrailPolicy>(client, kinds.guardrailPolicy)).items;
  const bindings = (await listAll<ModelBinding>(client, kinds.modelBinding)).items;
  return {
    policy: policies.flatMap(({ metadata }) => named(metadata)),
    model: bindings.flatMap(({ metadata, spec }) =>
      named(metadata).map((one) => ({ ...one, alias: spec.model.alias })),
    ),
  };
}

function named({ name, labels }: Resource['metadata']): readonly { readonly id: string; readonly name: string }[] {
  const id = labels?.[idLabel];
  return id === undefined ? [] : [{ id, name }];
}

type ShownTarget = { readonly type: string; readonly id: string };

/**
 * The names for a table; a format for programs has ids. The table also shows ids if the names cannot be read, and for
 * an id that two objects share.
 * @param shown the objects of the table; names are read only if one of them can have a name
 */
export async function shownTargetNames(
  connection: ManagementConnection,
  format: Format,
  shown: readonly ShownTarget[],
): Promise<NameOfTarget> {
  const isAsked = isForPeople(format) && shown.some(({ type }) => isShownType(type));
  const hasAgents = shown.some(({ type }) => type === 'agent');
  const known = isAsked ? await readPermittedNames(connection, hasAgents).catch(() => undefined) : undefined;
  const { policy = [], model = [], agent = [] } = known ?? {};
  const names = { policy: namesById(policy), model: namesById(model), agent: namesById(agent) };
  return (type, id) => (isShownType(type) ? (names[type].get(id) ?? id) : id);
}

function isShownType(type: string): type is ShownType {
  return Object.hasOwn(shownTypes, type);
}

/** A refused read is written to the audit log, and raises an alarm for the emergency credential, which is no JWT. */
async function readPermittedNames(
  connection: ManagementConnection,
  hasAgents: boolean,
): Promise<ShownNames | undefined> {
  if ((await connection.token()).split('.').length !== 3) return undefined;
  const { value } = await sendRequest(connection, { method: 'GET', path: '/api/v1/own-rights' }, ownRightsSchema);
  if (!value.view) return undefined;
  return { ...(await readNames(connection)), agent: hasAgents ? await readAgentNames(connection) : [] };
}

/** Empty if the agents cannot be read: policies and models are still shown by their names. */
async function readAgentNames(connection: ManagementConnection): Promise<readonly Named[]> {
  try {
    const { value } = await sendRequest(connection, { method: 'GET', path: '/api/v1/agents' }, managedAgentListSchema);
    return value.items.map(({ agentId, name }) => ({ id: agentId, name }));
  } catch {
    return [];
  }
}

/**
 * A user with the right to create objects can copy the id of another object, so an id of two objects gets no name. A name
 * that is a UUID would be read as an id.
 */
function namesById(known: readonly Named[]): ReadonlyMap<string, string> {
  const byId = [...Map.groupBy(known, ({ id }) => id)];
  return new Map(
    byId.flatMap(([id, [one, other]]) =>
      one && other === undefined && !isId(one.name) ? [[id, one.name] as const] : [],
    ),
  );
}

function sharers(known: readonly Named[], id: string): readonly string[] {
  return known.filter((one) => one.id === id).map(({ name }) => name);
}

/**
 * The id of the policy or model that an option names: its resource name, the alias of a model, or the id itself, which
 * is not looked up.
 * @throws CliError not_found, usage for a word that matches two models or an id of two objects, ManagementApiError,
 * ManagementUnreachableError
 */
export async function targetIdOf(connection: ManagementConnection, type: TargetType, word: string): Promise<string> {
  if (isId(word)) return word;
  const known = (await readNames(connection))[type];
  return onlyId(type, known, word) ?? refuseAbsent(type, known, word);
}

/** The word of a filter as an id. The doubt is a sentence with a leading space, and empty for a known object or an id. */
type FilteredTarget = { readonly id: string; readonly doubt: string };

/** Characters of ids of other objects that no resource name or alias has. */
const foreignCharacters = /[#@]/;

/**
 * The id of the policy, model or agent that a filter names. Any other word stays unchanged: it may be the id of another
 * object. A caller that may read the audit log need not have the right to read the names.
 * @throws CliError usage for a word that means two objects or an id of two objects, ManagementApiError, ManagementUnreachableError
 */
export async function filteredTarget(connection: ManagementConnection, word: string): Promise<FilteredTarget> {
  const asWritten = { id: word, doubt: '' };
  if (isId(word) || foreignCharacters.test(word)) return asWritten;
  const names = await readPermittedNames(connection, true).catch(absentIfForbidden);
  if (names === undefined) return asWritten;
  const found = (['policy', 'model', 'agent'] as const).flatMap((type) => {
    const id = onlyId(type, names[type], word);
    return id === undefined ? [] : [{ type, id }];
  });
  const ids = new Set(found.map(({ id }) => id));
  if (ids.size > 1) {
    const nouns = found.map(({ type }) => shownTypes[type].one).join(' and ');
    throw new CliError('usage', `${word} is ${nouns}: give an id, ${[...ids].join(' or ')}.`);
  }
  const [id] = ids;
  if (id !== undefined) return { id, doubt: '' };
  const known = [...names.policy, ...names.model, ...names.agent];
  const meant = didYouMean(word, known.flatMap(wordsOf)) || ' "portcullis get all" lists the names.';
  return { id: word, doubt: ` There is no policy, model or agent ${JSON.stringify(word)}.${meant}` };
}

/** @throws each error other than 403 unchanged */
function absentIfForbidden(error: unknown): undefined {
  if (error instanceof ManagementApiError && error.status === 403) return undefined;
  throw error;
}

function isId(word: string): boolean {
  return resourceIdSchema.safeParse(word).success;
}

function onlyId(type: ShownType, known: readonly Named[], word: string): string | undefined {
  const ids = new Set(known.filter(({ name, alias }) => name === word || alias === word).map(({ id }) => id));
  const [id, other] = ids;
  const owners = id === undefined ? [] : sharers(known, id);
  if (owners.length > 1) {
    const sentence = `The id ${id} of the ${type} ${JSON.stringify(word)} belongs to ${owners.length} objects, ${owners.join(', ')}: delete the one whose condition names the conflict, and apply it again without the label ${idLabel}.`;
    throw new CliError('usage', sentence);
  }
  if (other === undefined) return id;
  const sentence = `${word} is the name or alias of ${ids.size} ${shownTypes[type].several}: give an id, ${[...ids].join(' or ')}.`;
  throw new CliError('usage', sentence);
}

function refuseAbsent(type: TargetType, known: readonly Named[], word: string): never {
  const meant = didYouMean(word, known.flatMap(wordsOf)) || ` ${typedCommand(listers[type])} lists the names.`;
  throw new CliError('not_found', `There is no ${type} ${JSON.stringify(word)}.${meant}`);
}

function wordsOf({ name, alias }: Named): readonly string[] {
  return alias === undefined ? [name] : [name, alias];
}
