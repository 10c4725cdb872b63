import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { type Kind, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { LogName } from '../logs/log-reader.ts';
import { resourceKind } from '../resources/resource-kind.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { readRevisions, withoutRevisionDefinition } from '../revisions/read-revisions.ts';
import type { LookUp } from './complete-words.ts';
import { findInMemory, memoryFinder } from './look-up-memory.ts';
import { findInRetrieval, retrievalFinder } from './look-up-retrieval.ts';
import type { PartialLine } from './read-line.ts';

/** Timeout of a completion. */
const seconds = 2;

type Find = (client: KubeClient, line: PartialLine) => Promise<readonly string[]>;

/** Candidates of the completion, by the name of an argument or option value. */
const finders: Readonly<Record<string, Find>> = {
  // The commands `why` and `history` also accept KIND/NAME.
  binding: (client, { last }) =>
    last.includes('/') ? slashedNames(client, last) : namesOf(client, kinds.modelBinding),
  policy: (client, { last }) =>
    last.includes('/') ? slashedNames(client, last) : namesOf(client, kinds.guardrailPolicy),
  name: (client, { open, operands }) =>
    namesOf(client, open?.long === '--policy' ? kinds.guardrailPolicy : resourceKind(operands[0] ?? '')),
  names: async (client, { operands, last }) => {
    if (operands[0]?.includes('/') === true) return slashedNames(client, last);
    const given = new Set(operands.slice(1));
    return (await namesOf(client, resourceKind(operands[0] ?? ''))).filter((name) => !given.has(name));
  },
  'kind/name': (client, { last }) => slashedNames(client, last),
  model: async (client) => {
    const { items } = await listAll<ModelBinding>(client, kinds.modelBinding);
    return items.map(({ spec }) => spec.model.alias);
  },
  target: async (client) => [
    ...(await namesOf(client, kinds.guardrailPolicy)),
    ...(await namesOf(client, kinds.modelBinding)),
  ],
  build: async (client) => {
    const { items } = await listAll<RuntimeWorkload>(client, kinds.runtimeWorkload);
    return [...new Set(items.map(({ spec }) => spec.build))];
  },
  agent: (client) => namesOf(client, kinds.agent),
  agentversion: (client) => namesOf(client, kinds.agentVersion),
  n: numbersOf,
  revision: numbersOf,
  other: numbersOf,
};

/**
 * Words without special characters in any shell. Bash expands the words that a completion offers, and document ids come
 * from other users.
 */
const plainWord = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_./:@%+=,-]*$/u;

/** Reads names from the server that the command line addresses; empty on any failure. */
export function createLookUp(source: ResourceSource): LookUp {
  const lookUp = createUnfilteredLookUp(source);
  return async (placeholder, line) => {
    const words = await lookUp(placeholder, line).catch(() => []);
    return words.filter((word) => plainWord.test(word));
  };
}

function createUnfilteredLookUp(source: ResourceSource): LookUp {
  return async (placeholder, line) => {
    const findStored = retrievalFinder(placeholder, line);
    if (findStored !== undefined) return await findInRetrieval(findStored, line, seconds);
    const findRemembered = memoryFinder(placeholder, line);
    if (findRemembered !== undefined) return await findInMemory(findRemembered, line, seconds);
    const find = Object.hasOwn(finders, placeholder) ? finders[placeholder] : undefined;
    if (
      (find === undefined && placeholder !== 'process') ||
      line.open?.long === '--namespace' ||
      line.options['server'] !== undefined
    )
      return [];
    if (placeholder === 'process') {
      await using opened = await source.openLogs({ ...line.options, requestTimeout: seconds });
      return logWords(await opened.logs.list());
    }
    await using resources = await source.open({ ...line.options, requestTimeout: seconds });
    return find === undefined ? [] : await find(resources.client, line);
  };
}

/** Processes and components that have a log. */
function logWords(logs: readonly LogName[]): readonly string[] {
  return [...new Set(logs.flatMap(({ name, component }) => [name, component]))].toSorted();
}

/** KIND/NAME for a word that ends after the slash or within the name. */
async function slashedNames(client: KubeClient, word: string): Promise<readonly string[]> {
  const [kind = ''] = word.split('/');
  return (await namesOf(client, resourceKind(kind))).map((name) => `${kind}/${name}`);
}

async function namesOf(client: KubeClient, kind: Kind): Promise<readonly string[]> {
  return (await listAll(client, kind)).items.map(({ metadata }) => metadata.name);
}

/** The revisions of the policy on the command line: of the named policy, or of the policy of the named binding. */
async function numbersOf(client: KubeClient, { operands, options }: PartialLine): Promise<readonly string[]> {
  const [named = ''] = operands;
  const policy = options['policy'] ?? (await policyOf(client, named));
  return (await readRevisions(client, policy, withoutRevisionDefinition)).map(({ spec }) => String(spec.number));
}

async function policyOf(client: KubeClient, named: string): Promise<string> {
  if ((await client.get<GuardrailPolicy>(kinds.guardrailPolicy, named)) !== undefined) return named;
  const binding = await client.get<ModelBinding>(kinds.modelBinding, named);
  const guardrail = binding?.spec.guardrail;
  return guardrail?.mode === 'Policy' ? guardrail.policyRef.name : named;
}
