import { expect, test } from 'vitest';
import { type ReplyPart, readReply } from '#contracts/a2a-reply';
import { en } from '../words/en.ts';
import { ru } from '../words/ru.ts';
import { turnPart, wholeTurn } from './agent-conversation.ts';

const file = { raw: 'AA==', filename: '<b>report</b>.pdf', mediaType: 'application/pdf' };
const update = (artifactId: string, part: object, append = false): readonly ReplyPart[] =>
  readReply({ artifactUpdate: { artifact: { artifactId, parts: [part] }, append } });

/** The content that the stream sends for each part. */
async function streamed(parts: readonly ReplyPart[]): Promise<readonly string[]> {
  const turn = { id: '1', taskId: undefined, artifacts: [] };
  const shown: string[] = [];
  for (const part of parts) shown.push(String(await turnPart(en, turn, part)));
  return shown;
}

test('a file is named as text in the language of the page, in a streamed and in a complete answer', async () => {
  const parts = readReply({ message: { parts: [file] } });
  const shown = (await streamed(parts)).join('');
  expect(shown).toContain('The agent sent a file: &lt;b&gt;report&lt;/b&gt;.pdf');
  const turn = { person: 'ann', agent: 'desk', text: 'hello', events: parts, isCut: false };
  expect(String(await wholeTurn(ru, turn))).toContain('Агент прислал файл: &lt;b&gt;report&lt;/b&gt;.pdf');
});

test('an artifact that begins again replaces the element of its earlier parts, and appended parts follow in it', async () => {
  const parts = [
    ...update('x', { text: 'draft' }),
    ...update('y', { text: 'other' }),
    ...update('x', { text: 'final' }),
    ...update('x', { text: ' text' }, true),
    ...update('z', { text: 'never begun' }, true),
  ];
  const partial = (target: string, swap: string, content: string): string =>
    `<hx-partial hx-target="#${target}" hx-swap="${swap}">${content}</hx-partial>`;
  const [x, y] = ['<div id="said-1-0"></div>', '<div id="said-1-1"></div>'] as const;
  expect(await streamed(parts)).toEqual([
    partial('said-1', 'beforeend', x),
    partial('said-1-0', 'beforeend', 'draft'),
    partial('said-1', 'beforeend', y),
    partial('said-1-1', 'beforeend', 'other'),
    partial('said-1-0', 'outerHTML', x),
    partial('said-1-0', 'beforeend', 'final'),
    partial('said-1-0', 'beforeend', ' text'),
    partial('said-1', 'beforeend', 'never begun'),
  ]);
  const turn = { person: 'ann', agent: 'desk', text: 'hello', events: parts, isCut: false };
  expect(String(await wholeTurn(en, turn))).toContain('<div class="said">otherfinal textnever begun</div>');
});
