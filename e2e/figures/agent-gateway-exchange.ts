import { decodeJwt, decodeProtectedHeader } from 'jose';
import { gatewayKeyAt, readGatewayKeys } from '#identity/gateway-keys';
import { mintRunGrant } from '#identity/run-grant';
import { createTestKey, signText, type TestKey } from '#identity/testing/test-issuer';
import { agentSubject } from '#relations/subject';
import {
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
const faults = ['none', 'none', 'none', 'forged', 'altered', 'expired', 'type', 'audience', 'version'] as const;

export const figure: Figure = {
  name: 'agent-gateway-exchange',
  title:
    'grants with chains of up to six actors, forged, altered, expired, of another type, for another audience or version, and good ones, at the token exchange of a gateway over HTTP: every answer agrees with a plain model',
  async run(size, say) {
    await using world = await startAgentPlane();
    const requires = [{ kind: 'Model' as const, name: 'small' }];
    await world.serve({ versions: [routedVersion(await world.startProcess(), { requires })] });
    world.allow('ann', 'invoke');
    const trusted = agents.slice(0, 6);
    for (const subject of trusted) {
      world.rights.add(`${agentSubject({ issuer: gatewayIssuer, subject })} invoke agent:${agentId}`);
    }
    const held = gatewayKeyAt(await readGatewayKeys(world.signingKeysFile), new Date());
    const key = { ...held, alg: 'EdDSA', pem: '' } as TestKey;
    const stranger = { ...(await createTestKey('EdDSA', held.kid)), kid: held.kid };
    const random = randomFrom(17);
    const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const base = decodeJwt(
      await mintRunGrant({
        key: held,
        issuer: gatewayIssuer,
        agentId,
        versionId: firstVersion,
        subject: { issuer: peopleIssuer, subject: 'ann' },
        actors: [],
        runId: 'run-1',
        budget: { nodes: 10, modelTokens: 10, outputBytes: 10 },
        timeoutMs: 900_000,
      }),
    );
    const header = { typ: 'portcullis-run-grant+jwt' };
    const wrong: string[] = [];
    let accepted = 0;
    for (let at = 0; at < sizes[size]; at += 1) {
      const fault = oneOf(faults);
      const subject = oneOf(['ann', 'ann', 'ann', 'bob']);
      const chain = Array.from({ length: Math.floor(random() * 7) }, () => oneOf(agents));
      const act = chain.reduceRight<object | undefined>(
        (inner, sub) => ({ iss: gatewayIssuer, sub, act: inner }),
        undefined,
      );
      const now = Math.floor(Date.now() / 1_000);
      const times = fault === 'expired' ? { iat: now - 100, exp: now - 6 } : { iat: now, exp: now + 60 };
      const version = fault === 'version' ? { versionId: agentId } : {};
      const claims = { ...base, ...times, ...version, sub: subject, act };
      const signer = fault === 'forged' ? stranger : key;
      const typ = fault === 'type' ? oneOf(['portcullis-workload+jwt', 'at+jwt', 'JWT']) : header.typ;
      const text = await signText(signer, JSON.stringify(claims), { typ });
      const grant = fault === 'altered' ? altered(text, random) : text;
      const audience =
        fault === 'audience' ? oneOf(['urn:portcullis:memory', 'urn:portcullis:agent:x']) : 'urn:portcullis:models';
      const isDistinct = new Set(chain).size === chain.length;
      const mayAct = chain[0] === undefined || trusted.includes(chain[0]);
      const expected = fault === 'none' && subject === 'ann' && chain.length <= 4 && isDistinct && mayAct;
      const form = new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: grant,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        audience,
      });
      const answer = await fetch(`${world.url}/token`, { method: 'POST', body: form });
      const json = (await answer.json()) as { access_token?: string };
      const isIssued = answer.status === 200 && decodeProtectedHeader(json.access_token ?? '').alg === 'EdDSA';
      if (isIssued) accepted += 1;
      if (isIssued !== expected) wrong.push(`${isIssued ? 'accepted' : 'refused'} ${fault} ${chain.length}`);
      if (at > 0 && at % 2_500 === 0) say(`${at} grants`);
    }
    const kinds = [...new Set(wrong)].slice(0, 5).join(', ');
    return {
      holds: wrong.length === 0 && accepted > 0,
      line: `${sizes[size]} grants: ${accepted} exchanged, ${wrong.length} answers that differ from the model${kinds === '' ? '' : ` (${kinds})`}`,
    };
  },
};

/** The token with one other character in its claims or its signature. */
function altered(text: string, random: () => number): string {
  const from = text.indexOf('.') + 1;
  for (;;) {
    const at = from + Math.floor(random() * (text.length - from - 1));
    const found = text[at];
    if (found !== '.') return `${text.slice(0, at)}${found === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
  }
}
