import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { folds } from '#contracts/folds';
import { judgedTextKinds } from '#contracts/judged-texts';
import { type Definition, definitionSchema, rulesInOrder } from '#contracts/policy';
import { root } from '../../hack/check/run-tool.ts';
import { sampleBundle } from '../support/sample-policy.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../support/start-guarded-gateway.ts';

const page = readFileSync(join(root, 'docs/not-protected.md'), 'utf8');
const example = parse(readFileSync(join(root, 'examples/guarded-chat/policy.yaml'), 'utf8'));

/** The rows under one heading: the spelling or member that passes, and the code in the second cell. */
function rowsOf(heading: string): readonly (readonly [string, string])[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| (.+?) \| `(.+)` \|$/gm)].map(([, name = '', code = '']) => [name, code] as const);
}

/** The text that a row shows: `\u{…}` is the character of that number, `\n` a line break, `\\` a backslash. */
function textOf(code: string): string {
  return code.replace(/\\(\\|n|u\{([0-9a-f]+)\})/g, (_, kind: string, number?: string) => {
    if (kind === '\\') return '\\';
    return number === undefined ? '\n' : String.fromCodePoint(Number.parseInt(number, 16));
  });
}

/** The spellings that pass without folds, and the result of each with all folds. */
const spellings = [...page.matchAll(/^\| (.+?) \| `(.+)` \| (denied|passes) \|$/gm)].map(
  ([, name = '', code = '', folded = '']) => [name, code, folded] as const,
);

let world: GuardedGateway;
/** A gateway with the same policy and all folds in its rules. */
let folding: GuardedGateway;
/** A gateway with the same policy on a route with every kind of text in `judge`. */
let judging: GuardedGateway;
beforeAll(async () => {
  const bundle = sampleBundle(definitionSchema.parse(example.spec.definition));
  world = await startGuardedGateway({ bundle });
  judging = await startGuardedGateway({ bundle, change: (route) => ({ ...route, judge: [...judgedTextKinds] }) });
  folding = await startGuardedGateway({
    bundle: sampleBundle(withFolds(definitionSchema.parse(example.spec.definition))),
  });
  const worlds = [world, judging, folding];
  return () => Promise.all(worlds.map((one) => one[Symbol.asyncDispose]()));
});

function withFolds(definition: Definition): Definition {
  const copy = structuredClone(definition);
  for (const rule of [...rulesInOrder(copy.request), ...rulesInOrder(copy.response)]) {
    if (rule.kind === 'stop_list') rule.stopList.fold = [...folds];
    if (rule.kind === 'regex') rule.regex.fold = [...folds];
  }
  return copy;
}

type Answer = { readonly status: number; readonly text: string; readonly reached: string | undefined };

/** Sends a request with these members; `reached` is the body that the provider received. */
async function ask(
  members: Readonly<Record<string, unknown>>,
  message: unknown = { content: 'hi' },
  { url, key, upstream }: GuardedGateway = world,
): Promise<Answer> {
  let reached: string | undefined;
  const choices = [{ index: 0, message: { role: 'assistant', ...Object(message) }, finish_reason: 'stop' }];
  const body = JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'scripted', choices });
  upstream.play(({ text }) => {
    reached = text;
    return { kind: 'raw', body, contentType: 'application/json' };
  });
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: alias, messages: [{ role: 'user', content: 'hi' }], ...members }),
  });
  return { status: answer.status, text: await answer.text(), reached };
}
const asking = (content: string) => ({ messages: [{ role: 'user', content }] });

describe('what docs/not-protected.md lists', () => {
  test('docs/not-protected.md lists exactly the spellings and members that are not protected', () => {
    expect(spellings.length).toBeGreaterThanOrEqual(56);
    expect(spellings.filter(([, , folded]) => folded === 'denied').length).toBeGreaterThanOrEqual(40);
    expect(rowsOf('Members of a request').length).toBeGreaterThanOrEqual(8);
    expect(rowsOf('Members of an answer').length).toBeGreaterThanOrEqual(5);
  });

  test('the plain phrases of the page about missing protection are denied in a request and in an answer', async () => {
    expect(await ask(asking('make a bomb'))).toMatchObject({ status: 403, reached: undefined });
    expect(await ask(asking('hi'), { content: 'project aurora' })).toMatchObject({ status: 403 });
  });

  test('a phrase that is split over text parts of one message is denied, even where no further text is judged', async () => {
    for (const texts of [
      ['make a bo', 'mb'],
      ['make a', ' bomb'],
      ['x ', 'make', ' ', 'a', ' b', 'omb'],
    ]) {
      const content = texts.map((text) => ({ type: 'text', text }));
      expect(await ask({ messages: [{ role: 'user', content }] })).toMatchObject({ status: 403, reached: undefined });
    }
  });

  test.each(spellings)(
    'without folds, the spelling "%s" passes the guardrail, as the page about it states',
    async (_, code) => {
      const { status, reached } = await ask(asking(textOf(code)));
      expect(status).toBe(200);
      expect(JSON.parse(reached ?? '{}').messages[0].content).toBe(textOf(code));
    },
  );

  test.each(spellings)(
    'with all folds the spelling "%s" has the result that the page states',
    async (_, code, folded) => {
      const { status } = await ask(asking(textOf(code)), undefined, folding);
      expect(status).toBe(folded === 'denied' ? 403 : 200);
    },
  );

  test.each(rowsOf('Members of a request'))('a request passes with the unprotected phrase in: %s', async (_, code) => {
    const members = JSON.parse(code);
    const { status, reached } = await ask(members);
    expect(status).toBe(200);
    expect(JSON.parse(reached ?? '{}')).toMatchObject(members);
  });

  test.each(rowsOf('Members of an answer'))('an answer passes with the unprotected phrase in: %s', async (_, code) => {
    const message = JSON.parse(code);
    const { status, text } = await ask(asking('hi'), message);
    expect(status).toBe(200);
    expect(JSON.parse(text).choices[0].message).toMatchObject(message);
  });

  test.each(rowsOf('Members of a request').slice(0, -1))(
    'if the binding has every kind of text judged, a request is denied with the phrase in: %s',
    async (_, code) => {
      expect(await ask(JSON.parse(code), undefined, judging)).toMatchObject({ status: 403, reached: undefined });
    },
  );

  test.each(rowsOf('Members of an answer'))(
    'if the binding has every kind of text judged, an answer is denied with the phrase in: %s',
    async (_, code) => {
      expect(await ask(asking('hi'), JSON.parse(code), judging)).toMatchObject({ status: 403 });
    },
  );
});
