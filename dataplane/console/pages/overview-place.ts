import type { PageLinks } from './page-links.ts';

/** The lists of the overview with the numbers of their shown pages, which are in its address. */
export type OverviewPlace = {
  readonly attention: number;
  readonly models: number;
  readonly charts: number;
};

const parameters = ['attention', 'models', 'charts'] as const satisfies readonly (keyof OverviewPlace)[];
/** More pages than any list has: a larger number of a page names none. */
const mostPages = 10_000;

/** @param text the value of a parameter of the address; a list without a valid page number shows its first page */
export function readOverviewPlace(text: (parameter: string) => string | undefined): OverviewPlace {
  const [attention = 1, models = 1, charts = 1] = parameters.map((name) => readNumber(text(name)));
  return { attention, models, charts };
}

function readNumber(text: string | undefined): number {
  return /^[1-9]\d{0,4}$/.test(text ?? '') ? Math.min(Number(text), mostPages) : 1;
}

/** The query of an address with these pages; empty if all are the first ones. */
export function overviewQuery(place: OverviewPlace): string {
  const given = parameters
    .filter((name) => place[name] > 1)
    .map((name) => [name, String(place[name])] as [string, string]);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

export type ShownPart<T> = {
  readonly items: readonly T[];
  /** Numbers of the first and the last of them, from 1 on, and how many the whole list has. */
  readonly from: number;
  readonly to: number;
  readonly of: number;
  readonly links: PageLinks;
};

/** One page of a list of the overview. A page after the last one is the last one, because there may be fewer entries than before. */
export function partOfList<T>(
  list: readonly T[],
  { place, name, size }: { readonly place: OverviewPlace; readonly name: keyof OverviewPlace; readonly size: number },
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
