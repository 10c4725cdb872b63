import { analyse } from '#search/analysis/analyse';

/** Words for a kind, and for what belongs to it. */
const kinds: readonly (readonly [kind: string, members: string])[] = [
  [
    'alcohol booze drinking',
    'beer beers wine wines whisky whiskey vodka gin rum cider cocktails champagne brandy ale lager spirits',
  ],
  ['алкоголь спиртное выпивка', 'пиво вино виски водка джин ром сидр коктейли шампанское коньяк'],
  ['meat', 'chicken beef pork bacon steak ham lamb turkey sausages burgers'],
  ['мясо', 'курица говядина свинина бекон стейк ветчина баранина индейка колбаса'],
  ['dairy', 'milk cheese yoghurt yogurt butter cream'],
  ['молочное молочка', 'молоко сыр йогурт кефир творог сливки'],
  ['sweets sugar', 'chocolate cake cakes candy cookies biscuits'],
  ['сладкое сладости', 'шоколад торт торты конфеты печенье'],
  ['caffeine', 'coffee tea espresso cola'],
  ['кофеин', 'кофе чай эспрессо кола'],
  ['seafood', 'fish shrimp prawns oysters mussels crab lobster'],
  ['морепродукты', 'рыба креветки устрицы мидии краб'],
];

/** By the stem of a kind: the stems of what belongs to it. */
const members = new Map(
  kinds.flatMap(([kind, words]) => {
    const stems = new Set(analyse(words));
    return analyse(kind).map((stem) => [stem, stems] as const);
  }),
);

/** Whether a term names the kind of one of the terms: alcohol that of beer. */
export function isKindOf(term: string, terms: ReadonlySet<string>): boolean {
  const known = members.get(term);
  return known !== undefined && !known.isDisjointFrom(terms);
}
