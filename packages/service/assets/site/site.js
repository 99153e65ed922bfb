/** Runs in the browser: copy buttons, the chosen language, the search, and forms that try an operation. */

const find = (selector, part = document) => part.querySelector(selector);
const all = (selector, part = document) => [...part.querySelectorAll(selector)];

/** Makes an element. Texts are never read as HTML. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

keepOldLinks();
for (const pre of all('pre')) addCopyButton(pre);
keepChoice();
// A menu that is longer than the screen begins with the current page in its middle.
showCurrent(find('#menu'));
for (const code of all('.tabs code'))
  if (code.textContent.startsWith('{') && code.childElementCount === 0) colorJson(code);
prepareSearch(find('header form'));
for (const form of all('form.try')) prepareTry(form);

/** Links of version 0.2.0 have the name of the guide before that of the section. */
function keepOldLinks() {
  const name = location.pathname.split('/').at(-1);
  const prefix = `#${name}-`;
  if (location.hash.startsWith(prefix)) location.replace(`#${location.hash.slice(prefix.length)}`);
}

function showCurrent(menu) {
  const show = () => {
    const { offsetTop = 0 } = find('[aria-current]', menu) ?? {};
    menu.scrollTop = offsetTop - menu.clientHeight / 2;
  };
  menu.addEventListener('toggle', show);
  show();
  // On a phone, the menu would cover the section of this page that it leads to.
  menu.addEventListener('click', ({ target }) => {
    if (target.closest('a') && menu.matches(':popover-open')) menu.hidePopover();
  });
}

function addCopyButton(pre) {
  const button = make('button', { type: 'button', className: 'copy', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    const code = find('code', pre);
    try {
      await navigator.clipboard.writeText(code.textContent.trimEnd());
      button.textContent = 'Copied';
    } catch {
      // Without TLS, browsers refuse the clipboard.
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  pre.prepend(button);
  // The keyboard reaches code that scrolls.
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = find('code', pre);
  const isHidden = clientWidth === 0;
  if (scrollWidth > clientWidth || scrollHeight > clientHeight || isHidden) find('code', pre).tabIndex = 0;
}

/** The language that a reader chose stays chosen on other pages. */
function keepChoice() {
  const labelOf = (radio) => radio.labels[0].textContent;
  const choose = (label) => {
    for (const radio of all('.tabs input')) if (labelOf(radio) === label) radio.checked = true;
  };
  try {
    choose(localStorage.tab);
    addEventListener('change', ({ target }) => {
      if (!target.matches('.tabs input') || /^\d/.test(labelOf(target))) return;
      localStorage.tab = labelOf(target);
      choose(localStorage.tab);
    });
  } catch {
    // The browser keeps nothing for this site.
  }
}

/** Colors the names, texts and other values of JSON. */
function colorJson(code) {
  const parts = code.textContent.split(/("(?:[^"\\]|\\.)*"(?:\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.]*\b)/);
  const spans = parts.map((part, index) => {
    if (index % 2 === 0) return part;
    const kind = part.endsWith(':') ? 'attr' : part.startsWith('"') ? 'string' : 'number';
    return make('span', { className: `hljs-${kind}`, textContent: part });
  });
  code.replaceChildren(...spans);
}

function prepareSearch(form) {
  const { up, library, sections } = form.dataset;
  const box = find('input', form);
  const list = find('#hits');
  let loading;
  const load = async () => {
    const [{ default: MiniSearch, createSearch }, response] = await Promise.all([
      import(new URL(library, document.baseURI).href),
      fetch(sections),
    ]);
    return createSearch(MiniSearch, await response.json());
  };
  const show = async () => {
    const words = box.value.trim();
    loading ??= load();
    // Without the index, the form still works.
    const search = await loading.catch(() => () => []);
    if (words !== box.value.trim()) return;
    const found = search(words);
    list.replaceChildren(...found.map((hit) => make('li', {}, linkTo(hit, up))));
    list.hidden = found.length === 0;
    return find('a', list);
  };
  box.addEventListener('focus', show);
  box.addEventListener('input', show);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (box.value.trim() === '') return;
    // The reader may press Enter before the index is loaded.
    const first = await show();
    if (first) first.click();
    else form.submit();
  });
  form.addEventListener('keydown', (event) => {
    const stops = [box, ...all('a', list)];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') list.hidden = true;
    if (step === undefined || list.hidden) return;
    event.preventDefault();
    stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (!form.contains(target) || target.closest('#hits a')) list.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || document.activeElement.matches('input')) return;
    event.preventDefault();
    box.focus();
  });
}

function linkTo({ id, title, page, excerpt }, up) {
  const parts = [make('b', {}, title), ' ', make('i', {}, page === title ? '' : page)];
  return make('a', { href: up + id.slice(1) }, ...parts, make('span', {}, excerpt));
}

/** The headers of a response that say something about this request. */
const shownHeaders = /^(x-request-id|ratelimit.*|retry-after.*|www-authenticate|allow)$/;

function prepareTry(form) {
  const key = find('#try-key');
  const next = find('[data-next]', form);
  const answer = find('[data-answer]', form);
  const fields = all('[data-parameter]', form);
  /** The address of the next page. It has the parameters of the last request, not what was typed since. */
  let nextUrl;
  const address = () => {
    const sent = fields.filter(
      ({ value, dataset }) => value !== '' || form.elements[dataset.parameter].checked,
    );
    const query = new URLSearchParams(sent.map(({ value, dataset }) => [dataset.parameter, value]));
    const url = new URL(form.action);
    // Encodes what an address cannot hold, such as a space or `#`.
    url.search = [String(query), find('#try-rest').value].filter((part) => part !== '').join('&');
    return url.href;
  };
  /** The line of the request that was sent last, or would be sent next. */
  const showCurl = (url) => {
    const header = key.value && ' -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY"';
    const noPatterns = /[[\]{}]/.test(url) ? ' -g' : '';
    find('[data-curl]', form).textContent = `curl -i${noPatterns}${header} '${url}'`;
  };
  const send = async (url) => {
    showCurl(url);
    answer.replaceChildren(make('p', {}, 'Waiting for the response.'));
    next.hidden = true;
    const headers = key.value === '' ? {} : { Authorization: `Bearer ${key.value}` };
    const started = performance.now();
    try {
      const [wrong] = key.value.match(/[^\0-\xff]/u) ?? [];
      const code = wrong?.codePointAt(0).toString(16).toUpperCase();
      if (wrong) throw new Error(`the key has “${wrong}” (U+${code}), which a header cannot hold.`);
      const response = await fetch(url, { headers, cache: 'no-store', credentials: 'omit' });
      const body = await response.text();
      const note = key.value === '' ? ' It was sent without a key.' : '';
      const cursor = showAnswer(answer, response, body, Math.round(performance.now() - started), note);
      next.hidden = cursor === undefined;
      nextUrl = new URL(url);
      nextUrl.searchParams.set('cursor', cursor);
    } catch ({ message }) {
      answer.replaceChildren(make('p', { className: 'refused' }, `No response: ${message}`));
    }
    find('.actions', form).scrollIntoView();
  };
  form.addEventListener('input', () => showCurl(address()));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(address());
  });
  next.addEventListener('click', () => send(nextUrl.href));
  showCurl(address());
  // The form has its own line for curl.
  form.previousElementSibling.remove();
  form.hidden = false;
}

/** Shows a response, and returns the cursor in it. */
function showAnswer(answer, { ok, status, statusText, headers }, body, ms, note) {
  const parsed = parse(body);
  const mark = make('b', { className: ok ? 'good' : 'refused' }, `${status} ${statusText}`);
  const lines = [...headers]
    .filter(([name]) => shownHeaders.test(name))
    .map(([name, value]) => `${name}: ${value}`);
  const code = make('code', {}, parsed === undefined ? body : JSON.stringify(parsed, undefined, 2));
  const advice = (parsed?.errors ?? []).map((error) => {
    const link = make('a', { href: `../errors#${error.code.toLowerCase()}` }, error.code);
    const item = make('li', {}, link, `: ${error.detail}`);
    showAdvice(item, error.code);
    return item;
  });
  const pre = make('pre', { className: 'body' }, code);
  answer.replaceChildren(
    make('p', {}, mark, ` in ${ms} ms.${note}${ok ? pageText(parsed) : ''}`),
    ...(advice.length > 0 ? [make('ul', { className: 'advice' }, ...advice)] : []),
    make('pre', {}, make('code', {}, lines.join('\n'))),
    pre,
  );
  colorJson(code);
  addCopyButton(pre);
  return parsed?.cursor || undefined;
}

/** Adds what the catalogue says about a code. Without it, the link is enough. */
async function showAdvice(item, code) {
  const text = await fetch(`../errors/${code}.md`).then((response) => (response.ok ? response.text() : ''));
  const [, advice = ''] = /\*\*What to do:\*\* (.*?)\n\n/s.exec(text) ?? [];
  item.append(make('p', {}, advice.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '')));
}

function pageText({ cursor }) {
  return cursor ? ' More pages follow.' : ' This is the last page: it has no cursor.';
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
