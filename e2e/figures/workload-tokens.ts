import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createModelTokenVerifier, mintModelToken } from '#identity/model-token';
import { createRunGrantVerifier, type GrantedRun, mintRunGrant } from '#identity/run-grant';
import { createTestKey, part, signText, signWithPublicKey, startJwksServer } from '#identity/testing/test-issuer';
import { createWorkloadVerifier, mintWorkloadToken } from '#identity/workload-token';
import { createFakeClock } from '#kit/testing/fake-clock';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { small: 1_500, full: 10_000 } as const;
/**
 * After this number of bad tokens a valid token of each kind must be accepted: a verifier that refuses every token
 * would prove nothing.
 */
const controlEvery = 25;
const issuer = 'https://gateway.example';
const operations = ['message:send', 'message:stream', 'tools/call'] as const;
const characters = 'ABCabc019-_.=+/ \u0000é';

export const figure: Figure = {
  name: 'workload-tokens',
  title:
    'forged, altered, expired, replayed and swapped workload tokens, run grants and tokens for models: each refused, good ones accepted',
  async run(size, say) {
    const bench = await openBench();
    await using _server = bench.server;
    const counts = new Map<string, number>();
    const [wrong, codes] = [[] as string[], new Set<string>()];
    let controls = 0;
    const kinds = Object.entries(bench.attacks);
    for (let at = 0; at < sizes[size]; at += 1) {
      const [name, attack] = kinds[at % kinds.length] as (typeof kinds)[number];
      const code = await attack();
      if (code === undefined) wrong.push(name);
      else codes.add(code);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (at % controlEvery !== 0) continue;
      controls += 1;
      if (!(await bench.isGoodAccepted())) wrong.push('control');
    }
    for (const [name, count] of counts) say(`${name}: ${count}`);
    return {
      holds: wrong.length === 0,
      line: `${sizes[size]} bad tokens of ${kinds.length} kinds: ${wrong.length} faults${wrong.length === 0 ? '' : ` (${[...new Set(wrong)].join(', ')})`}; ${codes.size} codes; ${controls} good ones of each type accepted`,
    };
  },
};

async function openBench() {
  const random = randomFrom(15);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const clock = createFakeClock();
  const [key, stranger, elliptic] = [
    await createTestKey('EdDSA', 'gateway'),
    await createTestKey('EdDSA', 'gateway'),
    await createTestKey('ES256', 'elliptic'),
  ];
  const server = await startJwksServer(key, elliptic);
  const run: GrantedRun = {
    agentId: 'agent-1',
    versionId: 'version-1',
    runId: 'run-1',
    subject: { issuer: 'https://people.example', subject: 'ann' },
    actors: [{ issuer, subject: 'agent-2' }],
  };
  const jwks = server.url;
  const workloads = createWorkloadVerifier({ ...run, issuer, jwks, clock });
  const grants = createRunGrantVerifier({ issuer, jwks, clock });
  const budget = { nodes: 100, modelTokens: 100, outputBytes: 100 };
  const operation = operations[0];
  const token = (more: object = {}) => mintWorkloadToken({ ...run, key, issuer, operation, clock, ...more });
  const grant = (more: object = {}) =>
    mintRunGrant({ ...run, mode: 'A2A', key, issuer, budget, timeoutMs: 60_000, clock, ...more });
  const model = (more: object = {}) => mintModelToken({ ...run, key, issuer, aliases: ['chat'], clock, ...more });
  const models = createModelTokenVerifier({ issuer, jwks, clock });
  /** Tokens that are bound to a version, and tokens that every version uses at the same place. */
  const bound = [
    { mint: token, verify: (text: string) => workloads.verify(text, operation) },
    { mint: grant, verify: (text: string) => grants.verify(text, run) },
  ] as const;
  const kinds = [...bound, { mint: model, verify: (text: string) => models.verify(text) }] as const;
  type Kind = (typeof kinds)[number];

  /** The code of the refusal; undefined if the text was accepted. */
  async function refused(kind: Kind, text: string): Promise<string | undefined> {
    const found = await kind.verify(text);
    return found.kind === 'refusal' ? found.code : undefined;
  }
  const refusedOf = async (
    make: (kind: Kind) => Promise<string>,
    among: readonly Kind[] = kinds,
  ): Promise<string | undefined> => {
    const kind = oneOf(among);
    return await refused(kind, await make(kind));
  };
  function edited(text: string): string {
    for (;;) {
      const at = Math.floor(random() * text.length);
      const gone = Math.floor(random() * 3);
      const added = Array.from({ length: Math.floor(random() * 3) }, () => oneOf([...characters])).join('');
      const changed = text.slice(0, at) + added + text.slice(at + gone);
      if (changed !== text) return changed;
    }
  }
  const now = () => Math.floor(clock.date().getTime() / 1_000);
  const name = () => `other-${Math.floor(random() * 1_000)}`;
  /** A token that the gateway signed, with claims that no gateway writes. */
  async function overreaching(kind: Kind): Promise<string> {
    const text = await kind.mint();
    const chain = (subjects: readonly string[]) =>
      subjects.reduceRight<object | undefined>((act, sub) => ({ iss: issuer, sub, act }), undefined);
    const change = oneOf<object>([
      { exp: now() + 901 + Math.floor(random() * 1e6) },
      { iat: undefined },
      { exp: undefined },
      { iat: now() + 6 },
      { iat: now() - 0.5 },
      { jti: undefined },
      { sub: '' },
      { sub_iss: 7 },
      { aud: [decodeJwt(text).aud] },
      { act: chain(['a', 'b', 'c', 'd', 'e']) },
      { act: chain(['a', 'b', 'a']) },
      { act: chain(['agent-1']) },
      { iss: name() },
      { agentId: name() },
      { versionId: name() },
    ]);
    return await signText(key, JSON.stringify({ ...decodeJwt(text), ...change }), { ...decodeProtectedHeader(text) });
  }
  const attacks: Readonly<Record<string, () => Promise<string | undefined>>> = {
    altered: () => refusedOf(async ({ mint }) => edited(await mint())),
    'forged by another key': () => refusedOf(({ mint }) => mint({ key: stranger })),
    'forged by another algorithm': () =>
      refusedOf(async ({ mint }) => {
        const text = await mint();
        const [claims, { typ }] = [decodeJwt(text), decodeProtectedHeader(text)];
        return oneOf([
          await signText(elliptic, JSON.stringify(claims), { typ }),
          signWithPublicKey(key, claims),
          `${part({ alg: 'none', typ, kid: key.kid })}.${part(claims)}.`,
          `${part({ alg: 'none', typ, kid: key.kid })}.${part(claims)}.${text.split('.')[2]}`,
        ]);
      }),
    'with its own claims': () => refusedOf(overreaching, bound),
    expired: async () => {
      const kind = oneOf(kinds);
      const ttl = 1 + Math.floor(random() * 60);
      const text = await kind.mint({ ttlSeconds: ttl, timeoutMs: ttl * 1_000 });
      clock.advance((ttl + 5 + Math.floor(random() * 10)) * 1_000);
      return await refused(kind, text);
    },
    replayed: async () => {
      const text = await token();
      if ((await workloads.verify(text, operation)).kind === 'refusal') return undefined;
      clock.advance(Math.floor(random() * 5_000));
      return await refused(kinds[0], text);
    },
    'for another version, operation or run': () =>
      refusedOf(
        ({ mint }) =>
          mint === token
            ? token(
                oneOf<object>([{ agentId: name() }, { versionId: name() }, { operation: oneOf(operations.slice(1)) }]),
              )
            : grant(
                oneOf<object>([
                  { agentId: name() },
                  { versionId: name() },
                  { runId: name() },
                  { subject: { ...run.subject, subject: name() } },
                  { actors: [] },
                  { actors: [{ issuer, subject: name() }] },
                ]),
              ),
        bound,
      ),
    'of another type': () => refusedOf(async (kind) => await oneOf(kinds.filter((other) => other !== kind)).mint()),
    'with parts of two tokens': () =>
      refusedOf(async ({ mint }) => {
        const [one, other] = [(await mint()).split('.'), (await mint({ agentId: name() })).split('.')];
        return random() < 0.5 ? [one[0], one[1], other[2]].join('.') : [one[0], other[1], one[2]].join('.');
      }),
  };
  const isGoodAccepted = async () => {
    const found = await Promise.all(kinds.map(async (one) => await one.verify(await one.mint())));
    return found.every(({ kind }) => kind !== 'refusal');
  };
  return { server, attacks, isGoodAccepted };
}
