import type { Bundle } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import { systemClock } from '#kit/time/clock';
import { compileBundle } from '../../runtime/bundle/compile-bundle.ts';
import { runCheck } from '../../runtime/check/run-check.ts';
import { bodyGates } from '../../runtime/http/body-gates.ts';
import { checkAnswer } from '../../runtime/http/check-answer.ts';
import { readCheckHeaders } from '../../runtime/http/header-gates.ts';
import { firstRefusal, type PendingCheck } from '../../runtime/http/pending-check.ts';

/** Checks the body of a `POST /request` as the runtime does, without HTTP. @returns the JSON of the answer */
type Judge = (bytes: Buffer) => Promise<string>;

const ports = {
  clock: systemClock,
  tally: { fired: () => undefined, failed: () => undefined },
  observers: { start: () => undefined },
};

/** @throws the error that refuses the bundle */
export function createBenchJudge(bundle: Bundle): Judge {
  const compiled = compileBundle({ bundle, digest: digestOf(bundle) }, () => {
    throw new Error('a benchmark calls no provider');
  });
  if (!compiled.ok) throw new Error(compiled.problems.map(({ message }) => message).join('\n'));
  const { loaded } = compiled;
  const [policy] = loaded.policies.values();
  if (policy === undefined) throw new Error('a bundle holds a policy');
  const { maxMatches, maxBodyBytes } = loaded.limits;
  return async (bytes) => {
    const headers = readCheckHeaders([]);
    const check: PendingCheck = { stage: 'request', headers, bundle: loaded, acceptsToken: () => true, bytes };
    const refusal = firstRefusal(bodyGates, check);
    if (refusal !== undefined) return refusal;
    const messages = check.messages ?? [];
    const deadline = systemClock.now() + policy.request.deadlineMs;
    const section = policy.request;
    const decision = await runCheck({ section, messages, maxMatches, deadline, maskDenies: false }, ports);
    const answer = checkAnswer(decision, { stage: 'request', messages, source: bytes, maxBodyBytes });
    return answer.kind === 'answer' ? answer.text : answer.code;
  };
}
