// Runs on every page. Without it all pages still work with full page loads, except for streams.
(() => {
  // HTML comes from this server only, and no text is ever run as a script.
  const policy = window.trustedTypes?.createPolicy('console', { createHTML: (text) => text });
  function refuse() {
    throw new TypeError('text is not run as a script');
  }

  htmx.registerExtension('console', {
    init(api) {
      api.initSecurity(policy, refuse, refuse);
    },
    htmx_config_request(_element, { ctx }) {
      const token = document.querySelector('meta[name="csrf"]')?.content;
      if (token !== undefined) ctx.request.headers['X-CSRF-Token'] = token;
    },
  });

  // The session or the right ended while a stream was open: the page leads to the sign-in, or says so.
  document.addEventListener('htmx:sse:error', ({ detail }) => {
    if (detail.status === 401 || detail.status === 403) location.reload();
  });

  // A conversation: the message leaves its field once it is sent, an answer can be stopped, and one that ended early says so.
  document.addEventListener('htmx:sse:after:connection', ({ target }) => {
    for (const field of target.querySelectorAll('[data-once]')) field.value = '';
  });
  for (const stop of document.querySelectorAll('[data-stop]')) stop.hidden = false;
  document.addEventListener('click', ({ target }) => {
    const stop = target.closest('[data-stop]');
    if (stop !== null) htmx.trigger(stop.closest('form'), 'htmx:abort');
  });
  document.addEventListener('htmx:sse:close', ({ target }) => {
    if (!target.matches('[data-chat]')) return;
    for (const cut of document.querySelectorAll('.cut[hidden]')) {
      cut.hidden = cut.nextElementSibling.childElementCount > 0;
    }
    target.querySelector('textarea').focus();
  });

  // The focus goes to a rule that was added, and from one that was removed to the section where the next one is added.
  document.addEventListener('rules-changed', ({ target }) => {
    const section = target.closest?.('section');
    if (target.matches?.('button')) [...section.querySelectorAll('[name="rule.id"]')].at(-1)?.focus();
    else if (document.activeElement === document.body) section?.querySelector('p.row button')?.focus();
  });

  // Files that are dropped on an upload are sent immediately.
  const dropped = (target) => target.closest?.('[data-drop]') ?? undefined;
  document.addEventListener('dragover', (event) => {
    if (dropped(event.target) !== undefined) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    const form = dropped(event.target);
    if (form === undefined || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    form.querySelector('input[type="file"]').files = event.dataTransfer.files;
    form.requestSubmit();
  });

  // A menu closes with Escape and with a click elsewhere.
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    for (const open of document.querySelectorAll('details.person[open]')) {
      open.removeAttribute('open');
      open.querySelector('summary').focus();
    }
  });
  document.addEventListener('click', ({ target }) => {
    for (const open of document.querySelectorAll('details.person[open]')) {
      if (!open.contains(target)) open.removeAttribute('open');
    }
  });
})();
