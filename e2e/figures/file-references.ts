import { randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { FileReference } from '#contracts/file-reference';
import { createTestKey, part, signText } from '#identity/testing/test-issuer';
import { createFakeClock } from '#kit/testing/fake-clock';
import { fileAgentBundle } from '../../dataplane/agents/testing/file-agent.ts';
import {
  type FileWorld,
  fileUse,
  openFolderWorld,
  openServiceWorld,
} from '../../dataplane/agents/testing/file-world.ts';
import { errorCodeOf, startAgent } from '../../dataplane/agents/testing/start-agent.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { small: 1_000, full: 10_000 } as const;
/**
 * After this number of bad references a valid reference must be read: an agent that refuses every reference would prove
 * nothing.
 */
const controlEvery = 25;
const characters = [...'ABCabc019-_.=+/ \u0000é'];
const other = { issuer: 'https://people.example', subject: 'bob' };

export const figure: Figure = {
  name: 'file-references',
  title:
    'forged, altered, expired, replayed and swapped file references, sent to agents with files of a folder and of a file service: each refused before a download and a run, good ones read',
  async run(size, say) {
    const counts = new Map<string, number>();
    const faults: string[] = [];
    let controls = 0;
    for (const [place, open] of [
      ['folder', openFolderWorld],
      ['service', openServiceWorld],
    ] as const) {
      await using bench = await openBench(await open());
      const kinds = Object.entries(bench.attacks);
      for (let at = 0; at < sizes[size] / 2; at += 1) {
        const [name, attack] = kinds[at % kinds.length] as (typeof kinds)[number];
        counts.set(name, (counts.get(name) ?? 0) + 1);
        const outcome = await bench.send(await attack());
        if (outcome !== 'file_refused') faults.push(`${place}: ${name}: ${outcome}`);
        if (at % controlEvery !== controlEvery - 1) continue;
        controls += 1;
        // A refused reference with an effect shows in these counts, which only good references raise.
        if (!(await bench.isUntouched())) faults.push(`${place}: a run or a download`);
        if ((await bench.good()) !== 'read') faults.push(`${place}: control`);
      }
    }
    for (const [name, count] of counts) say(`${name}: ${count}`);
    for (const fault of new Set(faults)) say(`fault: ${fault}`);
    const held = faults.length === 0;
    return {
      holds: held,
      line: `${sizes[size]} bad references of ${counts.size} kinds: ${faults.length} accepted, read or run; ${controls} good ones read`,
    };
  },
};

async function openBench(world: FileWorld) {
  await using parts = new AsyncDisposableStack();
  parts.use(world);
  const agent = parts.use(
    await startAgent({
      bundle: fileAgentBundle(),
      config: { files: world.place },
      ...(world.token === undefined ? {} : { fileServiceToken: world.token }),
    }),
  );
  const random = randomFrom(15);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const stranger = await createTestKey('EdDSA', 'files-1');
  const elliptic = await createTestKey('ES256', 'files-1');
  const files = [world.add('one'), world.add('two!'), world.add('{}', { mediaType: 'application/json' })] as const;
  const file = () => oneOf(files);
  let used = 0;

  async function send(reference: unknown): Promise<string> {
    const answer = await agent.call('POST', '/message:send', {
      message: {
        messageId: 'm-1',
        role: 'ROLE_USER',
        contextId: fileUse.session,
        parts: [{ data: { file: reference } }],
      },
    });
    return answer.status === 200 ? 'read' : `${errorCodeOf(answer)}`;
  }
  async function good(reference?: FileReference): Promise<string> {
    used += 1;
    return await send(reference ?? (await world.mint(file())));
  }
  /** Number of ended runs up to now; only good references increase it. */
  async function runs(): Promise<number> {
    const text = await (await fetch(`${agent.adminUrl}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith('portcullis_agent_runs_total{'));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }
  const isUntouched = async (): Promise<boolean> =>
    (await runs()) === used && (world.service === undefined || world.service.counts.downloads === used);

  function edited(text: string): string {
    for (;;) {
      const at = Math.floor(random() * text.length);
      const added = Array.from({ length: Math.floor(random() * 3) }, () => oneOf(characters)).join('');
      const changed = text.slice(0, at) + added + text.slice(at + Math.floor(random() * 3));
      if (changed !== text) return changed;
    }
  }
  /** A reference whose capability the key of the files signed, with a claim that no file service writes. */
  async function overreaching(): Promise<FileReference> {
    const reference = await world.mint(file());
    const claims = decodeJwt(reference.capability);
    const change = oneOf<object>([
      { aud: 'urn:portcullis:agent:other' },
      { aud: [claims.aud] },
      { iss: 'https://other.example' },
      { exp: Number(claims.exp) + 100_000 },
      { exp: undefined },
      { iat: undefined },
      { jti: undefined },
      { acting: undefined },
      { owner: other },
      { reads: 0 },
      { reads: undefined },
      { agentId: undefined },
      { session: undefined },
    ]);
    const header = { ...decodeProtectedHeader(reference.capability) };
    return { ...reference, capability: await signText(world.key, JSON.stringify({ ...claims, ...change }), header) };
  }
  const attacks: Readonly<Record<string, () => Promise<unknown>>> = {
    'altered capability': async () => {
      const reference = await world.mint(file());
      return { ...reference, capability: edited(reference.capability) };
    },
    'altered member': async () => {
      const reference = await world.mint(file());
      const change = oneOf<object>([
        { fileId: randomUUID() },
        { name: edited(reference.name) },
        { mediaType: oneOf(['application/pdf', 'text/html']) },
        { size: reference.size + 1 + Math.floor(random() * 100) },
        { sha256: '0'.repeat(64) },
        { expiresAt: new Date(Date.parse(reference.expiresAt) + 1_000).toISOString() },
        { apiVersion: 'platform.file-ref/v2' },
        { url: 'https://files.example/one' },
      ]);
      return { ...reference, ...change };
    },
    'forged by another key': async () => await world.mint(file(), { key: stranger }),
    'forged by another algorithm': async () => {
      const reference = await world.mint(file());
      const [claims, { typ, kid }] = [decodeJwt(reference.capability), decodeProtectedHeader(reference.capability)];
      const capability = oneOf([
        await signText(elliptic, JSON.stringify(claims), { typ }),
        `${part({ alg: 'none', typ, kid })}.${part(claims)}.`,
        `${part({ alg: 'none', typ, kid })}.${part(claims)}.${reference.capability.split('.')[2]}`,
      ]);
      return { ...reference, capability };
    },
    'with its own claims': overreaching,
    expired: async () => {
      const clock = createFakeClock(new Date(Date.now() - 3_600_000 - Math.floor(random() * 80_000_000)));
      const reference = await world.mint(file(), { clock, ttlSeconds: 1 + Math.floor(random() * 3_000) });
      const later = new Date(Date.now() + 60_000).toISOString();
      return random() < 0.5 ? reference : { ...reference, expiresAt: later };
    },
    replayed: async () => {
      const reference = await world.mint(file());
      const first = await good(reference);
      return first === 'read' ? reference : first;
    },
    revoked: async () => {
      const reference = await world.mint(file());
      world.revoke(reference);
      return reference;
    },
    'for another user, agent, operation, session or caller': async () =>
      await world.mint(
        file(),
        oneOf<object>([
          { acting: { ...fileUse.subject, subject: `other-${Math.floor(random() * 1_000)}` } },
          { acting: { ...fileUse.subject, issuer: other.issuer } },
          { agentId: randomUUID() },
          { operation: oneOf(['message:stream', 'tools/call']) },
          { session: `session-${2 + Math.floor(random() * 1_000)}` },
          { caller: other },
        ]),
      ),
    swapped: async () => {
      const [one, two] = [await world.mint(files[0]), await world.mint(files[1])];
      const [first, second] = [one.capability.split('.'), two.capability.split('.')];
      return oneOf([
        { ...one, capability: two.capability, expiresAt: two.expiresAt },
        { ...one, fileId: two.fileId },
        { ...two, capability: [first[0], first[1], second[2]].join('.') },
        { ...two, capability: [second[0], first[1], second[2]].join('.') },
      ]);
    },
    'without a capability': async () => {
      const { capability: _, ...reference } = await world.mint(file());
      return { ...reference, ...oneOf<object>([{}, { capability: '' }, { capability: randomUUID() }]) };
    },
  };
  const owned = parts.move();
  return { send, good, isUntouched, attacks, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
