import { describe, expect, test } from 'vitest';
import { rememberDialogue } from '../../dataplane/memory/extraction/testing/remember-dialogue.ts';
import { randomFrom } from '../support/random-from.ts';
import { correctionDialogue } from './correction-dialogues.ts';
import { generateDialogues } from './generate-dialogues.ts';

const dialogues = 1_500;

describe.each(['en', 'ru'] as const)('corrections in %s, in other words than those of the figure', (language) => {
  test('a corrected fact is no longer remembered, and a remembered fact is not new when it is repeated', () => {
    const random = randomFrom(7);
    let known = 0;
    for (let made = 0; made < dialogues; made += 1) {
      const { messages, old, correctedAt } = correctionDialogue(language, random);
      const states = rememberDialogue(messages);
      const told = new Set(states.slice(0, correctedAt).flatMap((state) => state.filter((text) => says(text, old))));
      const last = states.at(-1) ?? [];
      expect({ messages, kept: last.filter((text) => told.has(text)) }).toEqual({ messages, kept: [] });
      if (told.size > 0) known += 1;
      const again = rememberDialogue([...messages, ...last.map((content) => ({ role: 'user', content }))]).at(-1) ?? [];
      expect({ last, more: again.length - last.length }).toEqual({ last, more: 0 });
    }
    // A reader that remembers nothing would have nothing to correct.
    expect(known / dialogues).toBeGreaterThan(0.9);
  });
});

test.each(['usual', 'other'] as const)(
  'of the corrected facts of 2,000 dialogues with %s small talk at most 1 in 100 keeps its first value',
  (talk) => {
    let known = 0;
    let kept = 0;
    const dialogues = [20, 21, 22, 23].flatMap((seed) =>
      generateDialogues(seed, { facts: 0, contradictions: 500, smallTalk: 0 }, talk),
    );
    for (const { messages, replaced = '' } of dialogues) {
      const states = rememberDialogue(messages);
      const told = new Set(
        states.slice(0, -1).flatMap((state) => state.filter((text) => says(text, replaced.toLowerCase()))),
      );
      if (told.size === 0) continue;
      known += 1;
      if (states.at(-1)?.some((text) => told.has(text))) kept += 1;
    }
    expect(known / dialogues.length).toBeGreaterThan(0.6);
    expect(kept / known).toBeLessThanOrEqual(0.01);
  },
);

test.each(['usual', 'other'] as const)(
  'facts of the dialogues with %s small talk that are sent again or recalled are no new facts',
  (talk) => {
    const dialogues = [20, 31].flatMap((seed) =>
      generateDialogues(seed, { facts: 300, contradictions: 200, smallTalk: 50 }, talk),
    );
    for (const { kind, messages } of dialogues) {
      const once = rememberDialogue(messages).at(-1) ?? [];
      const recalled = [...once, once.map((text) => `- ${text}`).join('\n')];
      const added = recalled.map((content) => ({ role: 'user', content }));
      // A dialogue with a correction would state the old fact again.
      const sentAgain = kind === 'facts' ? messages : [];
      const again = rememberDialogue([...messages, ...sentAgain, ...added]).at(-1) ?? [];
      expect({ messages, again }).toEqual({ messages, again: once });
    }
  },
);

function says(memory: string, value: string): boolean {
  return memory.toLowerCase().includes(value);
}
