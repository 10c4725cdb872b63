import { type AgentSkill, catalogueLimits } from '#contracts/catalogue';
import type { AgentContent } from './agent-content.ts';
import { safeId, safeText } from './safe-text.ts';

/** The part of a record that its author wrote. */
type CardPart = Pick<AgentContent, 'name' | 'description' | 'skills'>;

const { title, description: longest } = catalogueLimits;

/** The texts of a card in a fixed order: first the texts of the agent, then the texts of each skill. */
export function cardTexts(card: CardPart): readonly string[] {
  const texts: string[] = [];
  mapTexts(card, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

/**
 * The record with its texts replaced. The new texts are made safe in the same way as the texts of a card.
 * @param texts one text for each text of `cardTexts`, in the same order
 * @throws RangeError for fewer or more texts
 */
export function withCardTexts(agent: AgentContent, texts: readonly string[]): AgentContent {
  if (cardTexts(agent).length !== texts.length) throw new RangeError('a card has another number of texts');
  let next = 0;
  const card = mapTexts(agent, (_text, most, clean) => {
    const text = texts[next] ?? '';
    next += 1;
    return clean(text, most);
  });
  return { ...agent, ...card };
}

/**
 * @param change receives each text with the maximum number of its code points, and the function that makes the text
 * safe
 */
function mapTexts(
  card: CardPart,
  change: (text: string, most: number, clean: (text: string, most: number) => string) => string,
): CardPart {
  const name = change(card.name, title, safeText);
  const description = change(card.description, longest, safeText);
  return { name, description, skills: card.skills.map(ofSkill) };

  function ofSkill(skill: AgentSkill): AgentSkill {
    const { examples } = skill;
    return {
      id: change(skill.id, title, safeId),
      name: change(skill.name, title, safeText),
      description: change(skill.description, longest, safeText),
      tags: skill.tags.map((tag) => change(tag, title, safeText)),
      ...(examples === undefined ? {} : { examples: examples.map((one) => change(one, longest, safeText)) }),
    };
  }
}
