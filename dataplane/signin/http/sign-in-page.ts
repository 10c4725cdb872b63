import { html } from 'hono/html';
import { type SignInLanguage, signInWords } from './sign-in-words.ts';

type SignInPage = {
  readonly persons: readonly string[];
  /** The parameters of the request, sent back by the form. */
  readonly request: Readonly<Record<string, string>>;
  readonly isWrong: boolean;
  readonly language: SignInLanguage;
};

/** The page on which a person chooses who signs in and enters the code that only the owner of the platform can read. */
export function signInPage({ persons, request, isWrong, language }: SignInPage) {
  const words = signInWords[language];
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${words.signIn} · Portcullis</title>
<link rel="stylesheet" href="/sign-in.css">
</head>
<body>
<main>
<h1>Portcullis</h1>
<p>${words.intro} <code>npm start</code>.</p>
${isWrong ? html`<p role="alert" class="wrong">${words.wrong} <code>portcullis console</code>.</p>` : ''}
<form method="post" action="/authorize?ui_locales=${language}" autocomplete="off">
${Object.entries(request).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<fieldset>
<legend>${words.person}</legend>
${persons.map(
  (person, at) =>
    html`<label><input type="radio" name="person" value="${person}" ${at === 0 ? html`checked` : ''}> ${person}${at === 0 ? ` (${words.administrator})` : ''}</label>`,
)}
</fieldset>
<label class="code">${words.code} <input name="code_of_terminal" required maxlength="20" autofocus spellcheck="false" placeholder="XXXX-XXXX"></label>
<button>${words.signIn}</button>
</form>
</main>
</body>
</html>`;
}
