import { runInNewContext } from 'node:vm';

/** An element with the features that the page of /docs uses: it stores its content and returns its text. */
export class SmallElement {
  readonly tag: string;
  name = '';
  readonly children: (SmallElement | string)[] = [];
  readonly attributes = new Map<string, string>();
  readonly listeners = new Map<string, (event: object) => void>();
  value = '';
  id = '';
  href = '';
  type = '';
  open = false;
  className = '';
  constructor(tag: string) {
    this.tag = tag;
  }
  append(...added: (SmallElement | string)[]): void {
    this.children.push(...added);
  }
  replaceChildren(...added: (SmallElement | string)[]): void {
    this.children.splice(0, this.children.length, ...added);
  }
  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }
  addEventListener(name: string, listener: (event: object) => void): void {
    this.listeners.set(name, listener);
  }
  get textContent(): string {
    return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('');
  }
  set textContent(text: string) {
    this.replaceChildren(text);
  }
  /** This element and all elements below it. */
  *all(): Generator<SmallElement> {
    yield this;
    for (const child of this.children) if (typeof child !== 'string') yield* child.all();
  }
}

export type OpenPage = {
  readonly byId: (id: string) => SmallElement;
  /** The elements with this tag name inside of the element with this id. */
  readonly find: (id: string, name: string) => readonly SmallElement[];
};

/** Runs the only script of a page as a browser would, with relative addresses resolved against `url`. */
export function openPage(page: string, url: string): OpenPage {
  const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
  const roots = new Map<string, SmallElement>();
  const byId = (id: string): SmallElement => {
    const known = roots.get(id) ?? new SmallElement('div');
    roots.set(id, known);
    return known;
  };
  runInNewContext(script, {
    document: { createElement: (name: string) => new SmallElement(name), getElementById: byId },
    fetch: (path: string, options?: RequestInit) => fetch(new URL(path, url), options),
    Headers,
  });
  return { byId, find: (id, name) => [...byId(id).all()].filter((element) => element.tag === name) };
}
