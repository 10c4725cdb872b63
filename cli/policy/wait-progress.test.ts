import { expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import type { AgentVersion } from '#resources/agent-version';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';
import { waitAgentReady } from '../agents/wait-agent-ready.ts';
import { waitJudged } from './wait-judged.ts';

type Said = readonly [type: string, status: string, message: string];

function resourceOf<R>(...said: readonly Said[]): R {
  const conditions = said.map(([type, status, message]) => ({
    ...{ type, status, message, reason: status === 'Unknown' ? 'Pending' : 'Starting', observedGeneration: 1 },
  }));
  const guardrails = { input: { mode: 'None' }, output: { mode: 'None' } };
  const resource: unknown = {
    metadata: { name: 'one', uid: 'u', generation: 1 },
    spec: { guardrails },
    status: { conditions },
  };
  return resource as R;
}

/** A server whose resource passes through these states, one state for each read. */
function passing(...states: readonly unknown[]): KubeClient {
  const left = [...states];
  const client: unknown = { get: async () => (left.length > 1 ? left.shift() : left[0]) };
  return client as KubeClient;
}

test('a wait for a policy reports each state once', async () => {
  const waiting = resourceOf<Stored<GuardrailPolicy>>();
  const judging = resourceOf<Stored<GuardrailPolicy>>(['Valid', 'Unknown', 'the rules are judged']);
  const { metadata, status } = judging;
  const open = {
    metadata,
    status: { conditions: status?.conditions?.map((one) => ({ ...one, observedGeneration: 0 })) },
  };
  const valid = resourceOf<Stored<GuardrailPolicy>>(['Valid', 'True', 'valid']);
  const said: string[] = [];
  await waitJudged(passing(waiting, waiting, open, open, valid), waiting, 60, (sentence) => said.push(sentence));
  expect(said).toEqual([
    'GuardrailPolicy one is being judged: the operator has not processed it yet',
    'GuardrailPolicy one is being judged: the rules are judged',
  ]);
});

test('a wait for a version of an agent reports each state once', async () => {
  const starting = resourceOf<Stored<AgentVersion>>(['Ready', 'False', 'the process starts']);
  const ready = resourceOf<Stored<AgentVersion>>(['Ready', 'True', 'ready']);
  const said: string[] = [];
  await waitAgentReady(passing(starting, starting, ready), starting, 60, (sentence) => said.push(sentence));
  expect(said).toEqual([expect.stringMatching(/^AgentVersion one is starting: .*the process starts/)]);
});
