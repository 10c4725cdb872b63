import { html } from 'hono/html';

type SignInPage = {
  readonly persons: readonly string[];
  /** The parameters of the request, sent back by the form. */
  readonly request: Readonly<Record<string, string>>;
  readonly isWrong: boolean;
};

/** The page that asks which person signs in, and for the code that only the owner of the platform can read. */
export function signInPage({ persons, request, isWrong }: SignInPage) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · Portcullis</title>
<link rel="stylesheet" href="/sign-in.css">
</head>
<body>
<main>
<h1>Portcullis</h1>
<p>This platform runs on your machine. Choose a sample person, and type the code that <code>npm start</code> printed.</p>
${isWrong ? html`<p role="alert" class="wrong">This is not the code. A code is valid for one sign-in: <code>portcullis console</code> prints the current one.</p>` : ''}
<form method="post" action="/authorize" autocomplete="off">
${Object.entries(request).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<fieldset>
<legend>Person</legend>
${persons.map(
  (person, at) =>
    html`<label><input type="radio" name="person" value="${person}" ${at === 0 ? html`checked` : ''}> ${person}${at === 0 ? ' (administrator)' : ''}</label>`,
)}
</fieldset>
<label class="code">Code <input name="code_of_terminal" required maxlength="20" autofocus spellcheck="false" placeholder="XXXX-XXXX"></label>
<button>Sign in</button>
</form>
</main>
</body>
</html>`;
}
