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
    const [{ default: MiniSearch }, response] = await Promise.all([
      import(new URL(library, document.baseURI).href),
      fetch(sections),
    ]);
    const { index, query, most, sections: known } = await response.json();
    const search = new MiniSearch(index);
    search.addAll(known);
    return (words) => search.search(words, query).slice(0, most);
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
  };
  box.addEventListener('focus', show);
  box.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    const first = find('a', list);
    if (first === null || list.hidden) return;
    event.preventDefault();
    first.click();
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

function linkTo({ id, title, page, text }, up) {
  const where = page === title ? '' : page;
  const about = `${text.slice(0, 110)}${text.length > 110 ? '…' : ''}`;
  const parts = [make('b', {}, title), ' ', make('i', {}, where), make('span', {}, about)];
  return make('a', { href: up + id.slice(1) }, ...parts);
}

/** The headers of a response that say something about this request. */
const shownHeaders = /^(x-request-id|ratelimit.*|retry-after.*|www-authenticate|allow)$/;

function prepareTry(form) {
  const key = find('#try-key');
  const next = find('[data-next]', form);
  const answer = find('[data-answer]', form);
  const fields = all('[data-parameter]', form);
  let cursor;
  const address = () => {
    const sent = fields.filter(
      ({ value, dataset }) => value !== '' || form.elements[dataset.parameter].checked,
    );
    const query = new URLSearchParams(sent.map(({ value, dataset }) => [dataset.parameter, value]));
    const whole = [String(query), find('#try-rest').value].filter((part) => part !== '').join('&');
    return `${form.action}${whole && `?${whole}`}`;
  };
  const showCurl = () => {
    const header = key.value && ' -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY"';
    find('[data-curl]', form).textContent = `curl -i${header} '${address().replaceAll("'", `'\\''`)}'`;
  };
  const send = async () => {
    answer.replaceChildren(make('p', {}, 'Waiting for the response.'));
    next.hidden = true;
    const headers = key.value === '' ? {} : { Authorization: `Bearer ${key.value}` };
    const started = performance.now();
    try {
      const response = await fetch(address(), { headers, cache: 'no-store', credentials: 'omit' });
      const body = await response.text();
      cursor = showAnswer(answer, response, body, Math.round(performance.now() - started));
      next.hidden = cursor === undefined;
    } catch ({ message }) {
      answer.replaceChildren(make('p', { className: 'refused' }, `No response: ${message}`));
    }
    answer.scrollIntoView({ block: 'nearest' });
  };
  form.addEventListener('input', showCurl);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send();
  });
  next.addEventListener('click', () => {
    find('#try-cursor').value = cursor;
    showCurl();
    send();
  });
  showCurl();
  // The form has its own line for curl.
  form.previousElementSibling.remove();
  form.hidden = false;
}

/** Shows a response, and returns the cursor in it. */
function showAnswer(answer, { ok, status, statusText, headers }, body, ms) {
  const parsed = parse(body);
  const mark = make('b', { className: ok ? 'good' : 'refused' }, `${status} ${statusText}`);
  const lines = [...headers]
    .filter(([name]) => shownHeaders.test(name))
    .map(([name, value]) => `${name}: ${value}`);
  const code = make('code', {}, parsed === undefined ? body : JSON.stringify(parsed, undefined, 2));
  const advice = (parsed?.errors ?? []).map((error) => {
    const link = make('a', { href: `../errors#${error.code.toLowerCase()}` }, error.code);
    return make('li', {}, link, `: ${error.detail}`);
  });
  const pre = make('pre', { tabIndex: 0, className: 'body' }, code);
  answer.replaceChildren(
    make('p', {}, mark, ` in ${ms} ms`),
    ...(advice.length > 0 ? [make('ul', { className: 'advice' }, ...advice)] : []),
    make('pre', {}, make('code', {}, lines.join('\n'))),
    pre,
  );
  colorJson(code);
  addCopyButton(pre);
  return parsed?.cursor || undefined;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
