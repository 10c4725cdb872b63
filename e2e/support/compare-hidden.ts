import { chanceBand, guessFromTimes } from './guess-from-times.ts';
import { inRandomOrder, randomFrom } from './random-from.ts';

/** The kinds of agents: one that others may see, one that does not exist, and a second one that does not exist. */
const kinds = ['hidden', 'missing', 'control'] as const;
type HiddenKind = (typeof kinds)[number];

/** Ids of agents that do not exist. */
export const missingAgents = {
  missing: '01890a5d-ac96-774b-bcce-b302099a8077',
  control: '01890a5d-ac96-774b-bcce-b302099a8078',
};

type Comparison = {
  readonly pairs: number;
  readonly seed: number;
  /** Called at the start and after each thousand rounds: a token is valid for less than a full run takes. */
  readonly renew: () => Promise<void>;
  /** The operations; each round uses one of them, in turn. Answers of different operations may differ. */
  readonly operations: readonly string[];
  /** Sends one request about an agent of a kind. */
  readonly ask: (kind: HiddenKind, operation: string) => Promise<Response>;
  readonly say: (progress: string) => void;
};

type HiddenFigure = {
  /** Whether each operation answered all requests with the same bytes, apart from date and trace. */
  readonly isSame: boolean;
  /**
   * Whether the times distinguish hidden from missing agents no better than chance, or than the two missing agents in
   * the same run.
   */
  readonly isWithinChance: boolean;
  readonly line: string;
};

/** Rounds before those that are measured. */
const warmUp = 200;

/**
 * Sends requests about a hidden agent and two missing agents in random order, and compares them by bytes and by time.
 */
export async function compareHidden(comparison: Comparison): Promise<HiddenFigure> {
  const { pairs, seed, renew, operations, ask, say } = comparison;
  const random = randomFrom(seed);
  const times: Record<HiddenKind, number[]> = { hidden: [], missing: [], control: [] };
  const answers = new Map(operations.map((operation) => [operation, new Set<string>()]));
  for (let at = -warmUp; at < pairs; at += 1) {
    if (at === -warmUp || at % 1_000 === 0) await renew();
    const operation = operations[(at + warmUp) % operations.length] ?? '';
    for (const kind of inRandomOrder(kinds, random)) {
      const start = performance.now();
      const answer = await ask(kind, operation);
      const text = await answer.text();
      if (at >= 0) times[kind].push(performance.now() - start);
      if (answer.status !== 404) throw new Error(`a request about the ${kind} agent was answered ${answer.status}`);
      const headers = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'traceparent');
      answers.get(operation)?.add(JSON.stringify([headers, text.replace(/"traceId":"[0-9a-f]+"/, '')]));
    }
    if (at > 0 && at % 5_000 === 0) say(`${at} pairs`);
  }
  const [found, chance] = [guessFromTimes(times.hidden, times.missing), guessFromTimes(times.control, times.missing)];
  const band = chanceBand(pairs);
  const counts = [...answers].map(([operation, { size }]) => `${size} of ${operation}`).join(', ');
  return {
    isSame: [...answers.values()].every(({ size }) => size === 1),
    isWithinChance: Math.abs(found - 0.5) <= Math.max(band, Math.abs(chance - 0.5)),
    line: `${pairs} pairs, distinct answers: ${counts}; by response time, a hidden agent is distinguished from a missing one with probability ${found.toFixed(4)}, a missing one from a missing one with ${chance.toFixed(4)}; chance is 0.5 ± ${band.toFixed(4)}`,
  };
}
