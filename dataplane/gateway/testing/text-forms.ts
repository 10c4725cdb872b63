/** A text that no member of the API has. */
export const foundText = 'make a bomb';
/** A number with more digits than any number of the API; it replaces the word NUMBER. */
const foundNumber = '4111111111111111111111111';

const address = 'https://images.example/a.png';

/** JSON values that contain `foundText`, or a number that can be that of a payment card. */
const forms: Readonly<Record<string, unknown>> = {
  'a string': foundText,
  'a list of strings': [foundText],
  'a list in a list': [[foundText]],
  'an object': { text: foundText },
  'an object in objects': { a: { b: [{ c: foundText }] } },
  'a key of an object': { [foundText]: 1 },
  'a key in a list': [{ [foundText]: null }],
  'a part with text': [{ type: 'text', text: foundText }],
  'a part with a refusal': [{ type: 'refusal', refusal: foundText }],
  'a part of an unknown type': [{ type: foundText }],
  'an address': [{ type: 'image_url', image_url: `${address}?q=${foundText}` }],
  'a member of an address': [{ type: 'image_url', image_url: { url: address, note: foundText } }],
  'a key of an address': [{ type: 'image_url', image_url: { url: address, [foundText]: 1 } }],
  'a key of a file': [{ type: 'file', file: { filename: 'a.txt', [foundText]: [] } }],
  'a key of a recording': [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav', [foundText]: 1 } }],
  'a key of a recording itself': { data: 'AAAA', [foundText]: 1 },
  'text in base64': [Buffer.from(foundText).toString('base64')],
  'a long number': 'NUMBER',
  'a long number in a list': [['NUMBER']],
  'a long number of an address': [{ type: 'image_url', image_url: { url: address, size: 'NUMBER' } }],
};

/**
 * A request or an answer in which one member has a form; `value` returns its JSON bytes, with the members of a base.
 */
type FormAt = { readonly name: string; readonly value: (base: object) => Buffer };

/** Every form at each of the members. @param put makes a request or an answer with a value at a member */
export function formsAt(keys: readonly string[], put: (key: string, value: unknown) => object): readonly FormAt[] {
  return keys.flatMap((key) =>
    Object.entries(forms).map(([form, found]) => ({
      name: `${key}: ${form}`,
      value: (base: object) =>
        Buffer.from(JSON.stringify({ ...base, ...put(key, found) }).replaceAll('"NUMBER"', foundNumber)),
    })),
  );
}

/** Whether one of the texts contains the text, or the number, of a form. */
export function holdsForm(texts: readonly string[]): boolean {
  const encoded = Buffer.from(foundText).toString('base64');
  return texts.some((text) => [foundText, foundNumber, encoded].some((found) => text.includes(found)));
}
