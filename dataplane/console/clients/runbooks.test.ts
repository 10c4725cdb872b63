import { expect, test } from 'vitest';
import { readRunbooks, renderRunbook } from './runbooks.ts';

test('the runbooks of the release have titles, and their links lead to runbooks that exist', () => {
  const runbooks = readRunbooks();
  expect(runbooks.size).toBeGreaterThan(50);
  expect(runbooks.get('binding-failed')?.title).toBe('PortcullisBindingFailed');
  for (const { html } of runbooks.values()) {
    for (const [, name = ''] of html.matchAll(/href="\/runbooks\/([^"]*)"/g)) expect(runbooks.has(name)).toBe(true);
    expect(html.replaceAll(/href="\/runbooks\/[a-z-]+"/g, '')).not.toContain('href=');
  }
});

test('raw HTML, images and links to other places in a runbook are texts', () => {
  const { title, html } = renderRunbook(
    'x',
    '# Title\n\nA <script>1</script> a <b>b</b> ![i](https://x.example/i.png) [away](https://x.example) [own](a-b.md#c)\n\n```sh\na <b> & "c"\n```\n',
  );
  expect(title).toBe('Title');
  expect(html.match(/<[a-z]+/g)).toEqual(['<p', '<a', '<pre']);
  expect(html).toContain('<a href="/runbooks/a-b">own</a>');
  expect(html).toContain('<pre class="text" tabindex="0">a &lt;b&gt; &amp; &quot;c&quot;</pre>');
  expect(html).not.toContain('x.example');
});
