import { randomFrom } from '../support/random-from.ts';

const parts = [
  '<script>globalThis.ran=1</script>',
  '<img src=x onerror=globalThis.ran=1>',
  '<svg onload=globalThis.ran=1>',
  '"><b autofocus onfocus=globalThis.ran=1>',
  "' onmouseover='globalThis.ran=1",
  '</textarea><script>globalThis.ran=1</script>',
  '</pre></title><iframe srcdoc="<script>parent.ran=1</script>">',
  'javascript:globalThis.ran=1',
  '<a href="javascript:globalThis.ran=1">',
  '<div hx-get="/sign-out" hx-trigger="load" hx-on:load="globalThis.ran=1">',
  '{{constructor.constructor("globalThis.ran=1")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template that must stay a text
  '${globalThis.ran=1}',
  '<hx-partial hx-target="body">',
  '<!--><script>globalThis.ran=1</script>-->',
  '\u202e\u0000<\u200bscript>',
  '&lt;script&gt;globalThis.ran=1&lt;/script&gt;',
];

/** The 200 texts that are combined from the parts; they are the same in every run. */
export function hostileTexts(): readonly string[] {
  const random = randomFrom(20);
  const below = (count: number): number => Math.floor(random() * count);
  return Array.from({ length: 200 }, (_, at) => {
    const chosen = Array.from({ length: 1 + below(3) }, () => parts[below(parts.length)]);
    return `${at} ${chosen.join(' ')}`;
  });
}
