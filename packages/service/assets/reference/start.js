/** Runs in the browser: replaces the plain page with that of the library. */

// The library sets the nonce on most of its style elements, but not on those of two components.
const nonce = document.querySelector('meta[property="csp-nonce"]').content;
const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = createElement(name, options);
  if (name === 'style') element.nonce = nonce;
  return element;
};

// With a fragment that cannot be decoded, such as that of a truncated link, the library shows nothing.
try {
  decodeURIComponent(location.hash);
} catch {
  history.replaceState(null, '', location.pathname + location.search);
}

const { dataset } = document.currentScript;
const sources = Promise.all([load(dataset.document), load(dataset.guides)]);
document.addEventListener('DOMContentLoaded', () => sources.then(show).catch(reportFailure));

async function load(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.json();
}

function show([openapi, { guides, demoKey }]) {
  keepPlace();
  const [scheme] = Object.keys(openapi.components.securitySchemes);
  Scalar.createApiReference('#reference', {
    content: withGuides(openapi, guides, demoKey),
    // Requests go to the origin of the page, under whatever name the reader opened it.
    servers: [{ url: new URL('.', new URL(dataset.document, location.href)).href.slice(0, -1) }],
    generateTagSlug: slugOf,
    authentication: {
      preferredSecurityScheme: scheme,
    },
    // No key is stored, and no request goes to another host.
    persistAuth: false,
    telemetry: false,
    withDefaultFonts: false,
    proxyUrl: '',
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
    hideModels: true,
    defaultOpenAllTags: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hiddenClients,
  });
  document.querySelector('#plain').remove();
  document.querySelector('#reference').hidden = false;
  if (demoKey !== undefined) whenThere('input.scalar-password-input', (box) => type(demoKey, box));
  label('button:not([aria-label]):has([class*="toggle-icon"])', () => 'Dark mode');
  label('button:not([aria-label])[class*="copy-button"]', () => 'Copy');
  // The library gives the cards of all operations the same name.
  label(
    '.response-card[aria-labelledby]',
    (card) => `Examples: ${card.closest('section').getAttribute('label')}`,
  );
  document.addEventListener('click', showAnswer);
  // Later, because the library ticks what is typed into an empty box.
  document.addEventListener('input', ({ target }) => setTimeout(tick, 0, target));
  for (const link of document.querySelectorAll('.skip a')) makeSkip(link);
}

/** Puts the operation that the reader has scrolled to into the address: the library scrolls to it. */
function keepPlace() {
  const sections = [...document.querySelectorAll('#plain section')];
  const current = sections.findLast((section) => section.getBoundingClientRect().top < innerHeight / 2);
  if (current !== undefined && location.hash === '') history.replaceState(null, '', `#${current.id}`);
}

/** Makes a skip link move the focus to "Test Request" of its operation. */
function makeSkip(link) {
  const operation = `[id$="/${link.hash.slice(1)}"]`;
  whenThere(operation, ({ id }) => link.setAttribute('href', `#${id}`));
  link.addEventListener('click', (event) => {
    event.preventDefault();
    // The library renders an operation when it comes into view.
    document.querySelector(operation).scrollIntoView();
    whenThere(`${operation} .show-api-client-button`, (button) => button.focus());
  });
}

/** Leaves one sample per server language, if possible without a library. */
const hiddenClients = {
  ...Object.fromEntries(
    ['c', 'clojure', 'dart', 'fsharp', 'http', 'julia', 'objc', 'ocaml', 'powershell', 'r', 'swift'].map(
      (language) => [language, true],
    ),
  ),
  csharp: ['restsharp'],
  java: ['asynchttp', 'okhttp', 'unirest'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  node: ['axios', 'ofetch', 'undici'],
  php: ['guzzle', 'laravel'],
  python: ['python3', 'aiohttp', 'httpx_sync', 'httpx_async'],
  shell: ['httpie', 'wget'],
};

/** Calls `act` now and after each change that the library makes, until it returns true. */
function untilDone(act) {
  if (act()) return;
  const observer = new MutationObserver(() => act() && observer.disconnect());
  observer.observe(document.querySelector('#reference'), { childList: true, subtree: true });
}

/** Calls `act` with the first element that matches, as soon as the library has made it. */
function whenThere(selector, act) {
  untilDone(() => {
    const found = document.querySelector(selector);
    if (found !== null) act(found);
    return found !== null;
  });
}

/** Gives every element that matches a name for screen readers. */
function label(selector, textOf) {
  untilDone(() => {
    for (const element of document.querySelectorAll(`#reference ${selector}`)) {
      element.setAttribute('aria-label', textOf(element));
      element.removeAttribute('aria-labelledby');
    }
  });
}

/**
 * Types a text into a box. The reader can keep, change or remove it. If the library got the key as an option
 * instead, the key would come back whenever the reader empties the box.
 */
function type(text, box) {
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}

/** Ticks a parameter that has a value, and no other: the library would send an emptied box as `cursor=`. */
function tick(box) {
  if (!box.matches('tr [contenteditable][aria-label$="Value"]')) return;
  const checkbox = box.closest('tr').querySelector('input[type="checkbox"]');
  if (checkbox.checked !== (box.textContent !== '')) checkbox.click();
}

/** Scrolls to the response. On a phone it appears below the visible part. */
function showAnswer({ target }) {
  if (target.closest('[data-addressbar-action="send"]') === null) return;
  const answer = document.querySelector('#reference section[aria-label="Response"]');
  const observer = new MutationObserver(() => {
    observer.disconnect();
    answer.scrollIntoView();
  });
  observer.observe(answer, { childList: true, subtree: true, characterData: true });
}

/**
 * The document as the page shows it. A guide with the name of a tag introduces the operations of that tag.
 * Every other guide becomes a tag of its own, without operations.
 */
function withGuides(openapi, guides, demoKey) {
  const introduced = openapi.tags.map((tag) => {
    const guide = guides.find(({ name }) => name === slugOf(tag));
    return guide === undefined ? tag : { ...tag, description: guide.text };
  });
  const taken = introduced.map(slugOf);
  const added = guides.filter(({ name }) => !taken.includes(name));
  const groups = Map.groupBy(added, ({ group }) => group);
  // The operations come after the first group, which is for beginners.
  const [start, ...others] = Array.from(groups, ([name, members]) => ({
    name,
    tags: members.map((guide) => guide.name),
  }));
  return {
    ...openapi,
    info: introductionOf(openapi.info, demoKey),
    components: {
      ...openapi.components,
      parameters: mapValues(openapi.components.parameters, withEmptyBox),
    },
    paths: mapValues(openapi.paths, (path) => mapValues(path, asShown)),
    tags: [
      ...added.map(({ name, title, text }) => ({ name, 'x-displayName': title, description: text })),
      ...introduced,
    ],
    'x-tagGroups': [start, { name: 'Operations', tags: introduced.map(({ name }) => name) }, ...others],
  };
}

function slugOf({ name }) {
  return name.toLowerCase().replaceAll(' ', '-');
}

/** The first paragraph of the description. The guides explain the rest. */
function introductionOf({ title, version, description }, demoKey) {
  const key =
    demoKey === undefined
      ? 'To send requests from this page, enter your API key in the box. The page does not store it.'
      : 'To send requests from this page, use the demo key in the box, or replace it with your own key.';
  const tools = `For your own tools, use the [OpenAPI document](${dataset.document}).`;
  return { title, version, description: [description.split('\n\n')[0], key, tools].join('\n\n') };
}

/**
 * Shows an optional parameter with an empty box, and its default or example in the text. A box that is filled
 * in is sent with every request, or it is turned off, and then what the reader types is not sent either.
 */
function withEmptyBox({ example, ...parameter }) {
  if (parameter.required) return { ...parameter, example };
  const { default: usual, ...schema } = parameter.schema;
  const note = usual === undefined ? example && ` Example: \`${example}\`.` : ` Default: \`${usual}\`.`;
  return { ...parameter, schema, description: parameter.description + (note ?? '') };
}

/** Shows a page with a cursor first. In the document the last page is first: a walk over a mock must end. */
function asShown(operation) {
  const page = operation.responses[200];
  const { examples, ...media } = page.content['application/json'];
  const hasCursor = ([, { value }]) => Number('cursor' in value);
  const sorted = Object.entries(examples).sort((left, right) => hasCursor(right) - hasCursor(left));
  const content = { 'application/json': { ...media, examples: Object.fromEntries(sorted) } };
  return {
    ...operation,
    ...(operation['x-stability'] === 'beta' && { 'x-badges': [{ name: 'Beta' }] }),
    responses: { ...operation.responses, 200: { ...page, content } },
  };
}

function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** Shows above the plain page that there is nothing more to wait for. */
function reportFailure() {
  const notice = document.createElement('p');
  notice.className = 'notice';
  notice.role = 'alert';
  notice.textContent =
    'The interactive reference did not load. You can read everything here. To try again, reload the page.';
  document.querySelector('#plain').prepend(notice);
}
