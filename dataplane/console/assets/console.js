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
    // An answer that is not of the console, as that of a proxy without it, takes no place in the page.
    htmx_before_response(element, { ctx }) {
      if (ctx.response.headers.has('content-security-policy')) return undefined;
      lost.add(element);
      return false;
    },
  });

  // A part of the page is out of date, or a request has no answer: the page says so until the same part has an answer again.
  const lost = new Set();
  function showLost() {
    const line = document.getElementById('lost');
    for (const element of lost) if (!element.isConnected) lost.delete(element);
    if (lost.size === 0) line.hidden = true;
    if (lost.size === 0 || !line.hidden) return;
    line.querySelector('time').textContent = new Date().toLocaleTimeString(document.documentElement.lang);
    line.hidden = false;
  }
  document.addEventListener('htmx:after:request', ({ target }) => lost.delete(target));
  document.addEventListener('unanswered', ({ target }) => lost.add(target));
  document.addEventListener('htmx:error', ({ target }) => {
    lost.add(target);
    showLost();
  });
  document.addEventListener('htmx:finally:request', showLost);

  // The session or the right ended while a stream was open: the page leads to the sign-in, or says so.
  document.addEventListener('htmx:sse:error', ({ target, detail }) => {
    if (detail.status === 401 || detail.status === 403) location.reload();
    else if (target.matches('[hx-sse\\:connect]')) lost.add(target);
    showLost();
  });

  // A stream that answers a form and is cut, as at the end of the session, is not requested again: the page says that it is incomplete.
  const completed = new WeakSet();
  document.addEventListener('stream-complete', ({ target }) => completed.add(target));
  document.addEventListener('htmx:sse:close', ({ target, detail }) => {
    if (detail.reason !== 'ended' || completed.has(target) || target.matches('[data-chat], [hx-sse\\:connect]')) return;
    lost.add(target);
    showLost();
  });

  // A conversation: the message leaves its field once it is sent, an answer can be stopped, and one that ended early says so.
  document.addEventListener('htmx:sse:after:connection', ({ target }) => {
    lost.delete(target);
    completed.delete(target);
    showLost();
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
    const { activeElement } = document;
    if (activeElement === document.body || target.contains(activeElement)) target.querySelector('textarea').focus();
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
    addFiles(form, [...event.dataTransfer.files]);
  });

  // Each file is sent in a request of its own, one after the other, so that each has its own limit and its own result. A copy of the form
  // sends them: more files can be chosen meanwhile.
  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target;
      if (!form.matches('[data-drop]')) return;
      event.preventDefault();
      event.stopPropagation();
      addFiles(form, [...form.querySelector('input[type="file"]').files]);
      form.reset();
    },
    true,
  );
  const uploads = new WeakMap();
  function addFiles(form, files) {
    const upload = uploads.get(form) ?? { queue: [], known: new Set(), sent: 0, isSending: false };
    uploads.set(form, upload);
    if (files.length > Number(form.dataset.files)) upload.queue.push({ file: files[0], note: 'too_many' });
    else upload.queue.push(...notedFiles(files));
    if (!upload.isSending) void sendFiles(form, upload);
  }
  // Files of different folders can have one name, which is that of the document.
  function notedFiles(files) {
    const names = new Set();
    return files.map((file) => {
      const note = names.has(file.name) ? 'same_name' : '';
      names.add(file.name);
      return { file, note };
    });
  }
  async function sendFiles(form, upload) {
    upload.isSending = true;
    const sender = form.cloneNode(true);
    sender.removeAttribute('data-drop');
    sender.hidden = true;
    form.after(sender);
    htmx.process(sender);
    // The browser asks before it leaves the page: files that wait would be lost.
    const hold = (event) => event.preventDefault();
    addEventListener('beforeunload', hold);
    const line = document.getElementById('sending');
    const progress = line.querySelector('progress');
    line.hidden = false;
    for (let next = upload.queue.shift(); next !== undefined; next = upload.queue.shift()) {
      const all = upload.sent + 1 + upload.queue.length;
      progress.max = all;
      progress.value = upload.sent;
      line.querySelector('.count').textContent = `${upload.sent + 1} / ${all}`;
      await sendFile(sender, next, upload.known);
      upload.sent += 1;
    }
    removeEventListener('beforeunload', hold);
    line.hidden = true;
    sender.remove();
    upload.sent = 0;
    upload.isSending = false;
  }
  async function sendFile(sender, { file, note }, known) {
    const isReadable = () => file.slice(0, 1).arrayBuffer().then(() => true).catch(() => false);
    const size = file.size > Number(sender.dataset.bytes) ? 'too_large' : '';
    const reason = note || size || ((await isReadable()) ? '' : 'unread');
    // A file that is not added is sent by its name, for the words of the page.
    const one = new DataTransfer();
    one.items.add(reason === '' ? file : new File([], file.name));
    sender.querySelector('input[type="file"]').files = one.files;
    sender.querySelector('[name="note"]').value = reason || (known.has(file.name) ? 'again' : '');
    const ended = new Promise((resolve) => {
      sender.addEventListener('htmx:finally:request', resolve, { once: true });
    });
    sender.requestSubmit();
    await ended;
    const results = document.getElementById('uploads');
    const isLost = lost.has(sender);
    if (reason === '' && !isLost && !results.lastElementChild?.matches('.notice')) known.add(file.name);
    if (!isLost) return;
    const name = Object.assign(document.createElement('code'), { textContent: file.name });
    const line = document.createElement('p');
    line.append(name, ` ${sender.dataset.unsent}`);
    results.append(line);
  }

  // Another language or theme loads the page again, or leaves the answer to a write: the typed text would be lost.
  document.addEventListener('submit', (event) => {
    const { dataset, elements } = event.target;
    if (dataset.confirm === undefined) return;
    const isKept = elements.return_to.value === location.pathname + location.search;
    const isTyped = ({ type, value, defaultValue }) =>
      type !== 'hidden' && (value !== defaultValue || (!isKept && type === 'textarea' && value !== ''));
    const fields = [...document.querySelectorAll('main :is(input, textarea)')];
    if (fields.some(isTyped) && !confirm(dataset.confirm)) event.preventDefault();
  });

  // A form whose answer is awaited shows that, and is not sent a second time. The browser does not report that a person stopped the
  // request, so the form can be sent again after the longest time that the console waits for a command.
  const busyMs = 10_000;
  const setIdle = (form) => form.removeAttribute('aria-busy');
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== 'post') return;
    if (form.getAttribute('aria-busy') === 'true') return void event.preventDefault();
    form.setAttribute('aria-busy', 'true');
    setTimeout(setIdle, busyMs, form);
  });
  addEventListener('pageshow', () => document.querySelectorAll('form[aria-busy="true"]').forEach(setIdle));

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
