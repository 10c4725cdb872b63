import { createHmac, createPublicKey } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import { mintAgentCallToken } from '#identity/agent-call-token';
import { gatewayKeyAt, readGatewayKeys } from '#identity/gateway-keys';
import { mintRunGrant } from '#identity/run-grant';
import { createTestKey, part, signText, type TestKey } from '#identity/testing/test-issuer';
import { agentSubject } from '#relations/subject';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  peopleIssuer,
  routedVersion,
  startAgentPlane,
} from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { full: 10_000, small: 1_000 } as const;
const agents = Array.from({ length: 8 }, (_, at) => `agent-${at}`);
const good = ['none', 'none', 'none', 'repeated'] as const;
const bad = ['forged', 'downgraded', 'altered', 'expired', 'type', 'audience', 'version', 'swapped'] as const;
const faults = [...good, ...bad] as const;
type Fault = (typeof faults)[number];

/** A kind of token, and the request that accepts it. */
type Kind = {
  readonly typ: string;
  /** The claims of a good token. */
  readonly claims: JWTPayload;
  /** Whether the chain must name an agent: a person has no token with which agents call agents. */
  readonly needsActor: boolean;
  readonly wrongVersion: string;
  /** Sends the token to the request. @returns whether it was accepted */
  send(token: string, audience: string): Promise<boolean>;
};

const models = 'urn:portcullis:models';
const delegated = 'portcullis-agent-call+jwt';
const granted = 'portcullis-run-grant+jwt';

export const figure: Figure = {
  name: 'agent-gateway-exchange',
  title:
    'grants at the token exchange and tokens with which agents call agents, over HTTP at a gateway, with chains of up to six actors: good, repeated, forged, downgraded, altered, expired, swapped, of another type, for another audience or version; every answer agrees with a plain model',
  async run(size, say) {
    await using world = await startAgentPlane({ atOnce: 16, perMinute: 1_000_000 });
    const requires = [{ kind: 'Model' as const, name: 'small' }];
    await world.serve({ versions: [routedVersion(await world.startProcess(), { requires })] });
    world.allow('ann', 'invoke');
    const trusted = agents.slice(0, 6);
    for (const subject of trusted) {
      world.rights.add(`${agentSubject({ issuer: gatewayIssuer, subject })} invoke agent:${agentId}`);
    }
    const held = gatewayKeyAt(await readGatewayKeys(world.signingKeysFile), new Date());
    const pem = createPublicKey(held.privateKey).export({ type: 'spki', format: 'pem' }).toString();
    const key: TestKey = { ...held, alg: 'EdDSA', jwk: {}, pem };
    const stranger = { ...(await createTestKey('EdDSA', held.kid)), kid: held.kid };
    const kinds = await kindsAt(world, held);
    const random = randomFrom(17);
    const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const wrong: string[] = [];
    const accepted = new Map<string, number>();

    async function tokenOf(kind: Kind, fault: Fault, claims: JWTPayload): Promise<string> {
      const signer = fault === 'forged' ? stranger : key;
      const types = [granted, delegated, 'portcullis-workload+jwt', 'at+jwt', 'JWT'].filter((one) => one !== kind.typ);
      const header = { typ: fault === 'type' ? oneOf(types) : kind.typ };
      const text = await signText(signer, JSON.stringify(claims), header);
      if (fault === 'altered') return altered(text, random);
      if (fault !== 'downgraded') return text;
      const [none, hmac] = ['none', 'HS256'].map(
        (alg) => `${part({ alg, typ: kind.typ, kid: key.kid })}.${part(claims)}`,
      );
      // A verifier that lets the token choose the algorithm would use the public key as a secret.
      const mac = createHmac('sha256', pem).update(String(hmac)).digest('base64url');
      return oneOf([`${none}.`, `${none}.${text.split('.')[2]}`, `${hmac}.${mac}`]);
    }

    for (let at = 0; at < sizes[size]; at += 1) {
      const kind = oneOf(kinds);
      const fault = oneOf(faults);
      const subject = oneOf(['ann', 'ann', 'ann', 'bob']);
      const chain = Array.from({ length: Math.floor(random() * 7) }, () => oneOf(agents));
      const act = chain.reduceRight<object | undefined>(
        (inner, sub) => ({ iss: gatewayIssuer, sub, act: inner }),
        undefined,
      );
      const now = Math.floor(Date.now() / 1_000);
      const times = fault === 'expired' ? { iat: now - 100, exp: now - 6 } : { iat: now, exp: now + 60 };
      const version = fault === 'version' ? { versionId: kind.wrongVersion } : {};
      const audience = fault === 'audience' ? oneOf(['urn:portcullis:memory', 'urn:portcullis:agent:x']) : models;
      const isOwnAudience = kind.typ === delegated && fault === 'audience';
      const claims = {
        ...kind.claims,
        ...times,
        ...version,
        ...(isOwnAudience ? { aud: audience } : {}),
        sub: subject,
        act,
      };
      const token = await tokenOf(kind, fault, claims);
      const isDistinct = new Set(chain).size === chain.length;
      const mayAct = chain[0] === undefined ? !kind.needsActor : trusted.includes(chain[0]);
      const isGood = good.some((one) => one === fault);
      const expected = isGood && subject === 'ann' && chain.length <= 4 && isDistinct && mayAct;
      const receiver = fault === 'swapped' ? oneOf(kinds.filter((one) => one !== kind)) : kind;
      // Neither kind of token can be used only once: a run requests several tokens, and an agent may use its token for
      // calls until it expires.
      const count = fault === 'repeated' ? 2 : 1;
      for (let sent = 0; sent < count; sent += 1) {
        const isAccepted = await receiver.send(token, audience);
        if (isAccepted) accepted.set(kind.typ, (accepted.get(kind.typ) ?? 0) + 1);
        if (isAccepted !== expected) {
          wrong.push(`${kind.typ} ${isAccepted ? 'accepted' : 'refused'}: ${fault}, ${chain.length} actors`);
        }
      }
      if (at > 0 && at % 2_500 === 0) say(`${at} tokens`);
    }
    const [first = 0, second = 0] = [accepted.get(granted), accepted.get(delegated)];
    const listed = [...new Set(wrong)].slice(0, 5).join('; ');
    return {
      holds: wrong.length === 0 && first > 0 && second > 0,
      line: `${sizes[size]} grants and tokens: ${first} exchanges and ${second} calls accepted, ${wrong.length} answers that differ from the model${listed === '' ? '' : ` (${listed})`}`,
    };
  },
};

async function kindsAt(world: AgentPlaneWorld, key: ReturnType<typeof gatewayKeyAt>): Promise<readonly Kind[]> {
  const subject = { issuer: peopleIssuer, subject: 'ann' };
  const budget = { nodes: 10, modelTokens: 10, outputBytes: 10 };
  const call = { key, issuer: gatewayIssuer, agentId, subject, budget };
  const grant = await mintRunGrant({
    ...call,
    versionId: firstVersion,
    actors: [],
    runId: 'run-1',
    mode: 'A2A',
    timeoutMs: 900_000,
  });
  const token = await mintAgentCallToken({
    ...call,
    actors: [{ issuer: gatewayIssuer, subject: 'agent-0' }],
    groups: [],
    deadline: new Date(Date.now() + 86_400_000),
    ttlSeconds: 60,
  });
  return [
    {
      typ: granted,
      claims: decodeJwt(grant),
      needsActor: false,
      wrongVersion: agentId,
      async send(text, audience) {
        const form = new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: text,
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          audience,
        });
        const answer = await fetch(`${world.url}/token`, { method: 'POST', body: form });
        const json = (await answer.json()) as { access_token?: string };
        return answer.status === 200 && decodeProtectedHeader(json.access_token ?? '').alg === 'EdDSA';
      },
    },
    {
      typ: delegated,
      claims: decodeJwt(token),
      needsActor: true,
      wrongVersion: firstVersion,
      async send(text) {
        const answer = await world.call(`/agents/${agentId}/mcp`, { token: text, body: '{"jsonrpc":"2.0"}' });
        await answer.arrayBuffer();
        return answer.status === 200;
      },
    },
  ];
}

/** The token with one changed character in its claims or its signature. */
function altered(text: string, random: () => number): string {
  const from = text.indexOf('.') + 1;
  for (;;) {
    const at = from + Math.floor(random() * (text.length - from - 1));
    const found = text[at];
    if (found !== '.') return `${text.slice(0, at)}${found === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
  }
}
