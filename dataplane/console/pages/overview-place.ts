import type { PageLinks } from './page-links.ts';

const lists = ['attention', 'models', 'charts'] as const;
type OverviewList = (typeof lists)[number];

/**
 * The numbers of the shown pages of the lists of the overview, and the searched text. The address of the page has all
 * of them.
 */
export type OverviewPlace = Readonly<Record<OverviewList, number>> & {
  /** Part of the alias or the name of each shown model, in lower case; empty for all models. */
  readonly find: string;
};

/** Characters of a searched text: no name is longer. */
export const mostFindCharacters = 253;
/** More pages than any list has: a larger number in an address is ignored. */
const mostPages = 10_000;

/** @param text the value of a parameter of the address; a list without a valid page number shows its first page */
export function readOverviewPlace(text: (parameter: string) => string | undefined): OverviewPlace {
  const [attention = 1, models = 1, charts = 1] = lists.map((name) => readNumber(text(name)));
  const find = (text('find') ?? '').trim().toLowerCase().slice(0, mostFindCharacters);
  return { attention, models, charts, find };
}

/** Whether one of the names of a model contains the searched text. */
export function isFound({ find }: Pick<OverviewPlace, 'find'>, ...names: readonly string[]): boolean {
  return names.some((name) => name.toLowerCase().includes(find));
}

function readNumber(text: string | undefined): number {
  return /^[1-9]\d{0,4}$/.test(text ?? '') ? Math.min(Number(text), mostPages) : 1;
}

/** The query of an address with this text and these pages; empty for the first pages of all models. */
export function overviewQuery(place: OverviewPlace): string {
  const pages = lists.filter((name) => place[name] > 1).map((name): [string, string] => [name, String(place[name])]);
  const given: readonly [string, string][] = place.find === '' ? pages : [['find', place.find], ...pages];
  return given.length === 0 ? '' : `?${new URLSearchParams([...given])}`;
}

export type ShownPart<T> = {
  readonly items: readonly T[];
  /** Numbers of the first and the last of them, from 1 on, and how many the whole list has. */
  readonly from: number;
  readonly to: number;
  readonly of: number;
  readonly links: PageLinks;
};

/**
 * One page of a list of the overview. A number beyond the last page shows the last page, because the list may have
 * become shorter.
 */
export function partOfList<T>(
  list: readonly T[],
  { place, name, size }: { readonly place: OverviewPlace; readonly name: OverviewList; readonly size: number },
): ShownPart<T> {
  const pages = Math.max(1, Math.ceil(list.length / size));
  const number = Math.min(place[name], pages);
  const first = (number - 1) * size;
  const items = list.slice(first, first + size);
  const linkTo = (page: number): string => `/overview${overviewQuery({ ...place, [name]: page })}`;
  return {
    ...{ items, from: first + 1, to: first + items.length, of: list.length },
    links: { first: number === 1 ? undefined : linkTo(1), next: number === pages ? undefined : linkTo(number + 1) },
  };
}
