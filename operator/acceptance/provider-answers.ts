import { type Backoff, createBackoff } from '#kit/time/backoff';
import type { Clock } from '#kit/time/clock';

/** One question to a provider before an application. */
export type ProviderQuestion = {
  /** Equal for questions that share an answer: the same provider and rules that differ only in their ids. */
  readonly key: string;
  /** The same value for all questions to one provider. */
  readonly provider: string;
};

/**
 * The reason why a test call to a provider failed. `isOfProvider`: every other call to the provider would fail, too.
 */
export type Silence = { readonly message: string; readonly isOfProvider: boolean };

type Asking<Q> = {
  /** The binding or served policy whose application calls the provider. */
  readonly subject: string;
  readonly application: string;
  readonly questions: readonly Q[];
  /** @returns for each question why it was not answered; undefined if it was */
  readonly ask: (questions: readonly Q[]) => Promise<readonly (Silence | undefined)[]>;
};

/**
 * The answers of providers before applications. Each application makes each test call once. A provider that does not
 * answer is called again with backoff by one of the waiting applications, whatever their number; when the provider
 * answers, all of them are queued.
 */
export type ProviderAnswers = {
  /** @returns the messages about questions that were not answered; empty when all were */
  gather<Q extends ProviderQuestion>(asking: Asking<Q>): Promise<readonly string[]>;
  /**
   * Milliseconds until this binding or served policy calls the provider again; undefined if it does not wait, or if
   * another one makes the call.
   */
  retryAfterMs(subject: string): number | undefined;
  /** Removes an application from those that wait for an answer of a provider. */
  stopWaiting(subject: string): void;
  /** The application of the subject has ended. */
  forget(subject: string): void;
};

type Silent = {
  message: string;
  nextAt: number;
  isBeingAsked: boolean;
  readonly backoff: Backoff;
  /** Applications by their subjects, with their test calls; the first application repeats its call. */
  readonly waiting: Map<string, ReadonlySet<string>>;
};

/** Backoff between two questions to a provider that does not answer, milliseconds. */
const leastRetryMs = 1_000;
const pauses = { firstMs: 2_000, maxMs: 60_000 } as const;

/** @param onDue called with subjects that should be reconciled now */
export function createProviderAnswers(
  clock: Pick<Clock, 'now'>,
  onDue: (subjects: readonly string[]) => void,
): ProviderAnswers {
  const answered = new Map<string, { readonly application: string; readonly keys: Set<string> }>();
  /** Keyed by question, or by provider when every question to it fails. */
  const silent = new Map<string, Silent>();
  const applications = new Map<string, string>();

  function knownAnswers(subject: string, application: string): Set<string> {
    const found = answered.get(subject);
    if (found?.application === application) return found.keys;
    const keys = new Set<string>();
    answered.set(subject, { application, keys });
    return keys;
  }

  function stopWaiting(subject: string, except: ReadonlySet<Silent> = new Set()): void {
    for (const [key, one] of silent) {
      const [first] = one.waiting.keys();
      if (except.has(one) || !one.waiting.delete(subject)) continue;
      const [next] = one.waiting.keys();
      if (next === undefined) silent.delete(key);
      else if (first === subject) onDue([next]);
    }
  }

  function silenceOf({ key, provider }: ProviderQuestion): Silent | undefined {
    return silent.get(provider) ?? silent.get(key);
  }

  function noteSilence({ key, provider }: ProviderQuestion, { message, isOfProvider }: Silence): Silent {
    const at = isOfProvider ? provider : key;
    const backoff =
      silenceOf({ key, provider })?.backoff ?? createBackoff({ ...pauses, resetAfterMs: Infinity, now: clock.now });
    const one = silent.get(at) ?? { message, nextAt: 0, isBeingAsked: false, backoff, waiting: new Map() };
    one.message = message;
    one.nextAt = clock.now() + backoff.next();
    silent.set(at, one);
    return one;
  }

  /** Applications with the same test call share the answer; the other applications make their calls now. */
  function noteAnswer(asker: string, { key, provider }: ProviderQuestion): void {
    const due: string[] = [];
    for (const at of [key, provider]) {
      for (const [subject, keys] of silent.get(at)?.waiting ?? []) {
        const application = applications.get(subject);
        if (application !== undefined && keys.has(key)) knownAnswers(subject, application).add(key);
        if (subject !== asker) due.push(subject);
      }
      silent.delete(at);
    }
    if (due.length > 0) onDue(due);
  }

  return {
    async gather({ subject, application, questions, ask }) {
      // An application that a user repeats calls immediately.
      const isRepeated = applications.has(subject) && applications.get(subject) !== application;
      applications.set(subject, application);
      const known = knownAnswers(subject, application);
      const open = questions.filter(({ key }) => !known.has(key));
      if (open.length === 0) {
        stopWaiting(subject);
        return [];
      }
      const keys = new Set(open.map(({ key }) => key));
      const blocks = new Set<Silent>();
      for (const question of open) {
        const one = silenceOf(question);
        if (one === undefined) continue;
        one.waiting.set(subject, keys);
        if (one.isBeingAsked || (one.nextAt > clock.now() && !isRepeated)) blocks.add(one);
      }
      if (blocks.size > 0) return [...blocks].map(({ message }) => message);
      const asked = open.map(silenceOf).filter((one) => one !== undefined);
      for (const one of asked) one.isBeingAsked = true;
      const silences = await ask(open).finally(() => {
        for (const one of asked) one.isBeingAsked = false;
      });
      open.forEach((question, index) => {
        if (silences[index] !== undefined) return;
        known.add(question.key);
        noteAnswer(subject, question);
      });
      const still = new Set<Silent>();
      open.forEach((question, index) => {
        const silence = silences[index];
        if (silence !== undefined) still.add(noteSilence(question, silence));
      });
      for (const one of still) one.waiting.set(subject, keys);
      stopWaiting(subject, still);
      return silences.flatMap((silence) => silence?.message ?? []);
    },
    retryAfterMs(subject) {
      const times = [...silent.values()].flatMap(({ waiting, nextAt }) => {
        const [first] = waiting.keys();
        return first === subject ? [nextAt - clock.now()] : [];
      });
      return times.length === 0 ? undefined : Math.max(leastRetryMs, Math.min(...times));
    },
    stopWaiting,
    forget(subject) {
      stopWaiting(subject);
      applications.delete(subject);
      answered.delete(subject);
    },
  };
}
