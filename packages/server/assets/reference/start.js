/** Runs in the browser: puts the OpenAPI document and the guides together, and has the library show them. */

// The library takes the nonce for most of its style elements, but not for those of two parts of it.
const nonce = document.querySelector('meta[property="csp-nonce"]').content;
const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = createElement(name, options);
  if (name === 'style') element.nonce = nonce;
  return element;
};

// A fragment that cannot be decoded, as of a link that was cut, would leave the library's page empty.
try {
  decodeURIComponent(location.hash);
} catch {
  history.replaceState(null, '', location.pathname + location.search);
}

const { dataset } = document.currentScript;
const sources = Promise.all([load(dataset.document), load(dataset.guides)]);
tell('Loading the reference …');
document.addEventListener('DOMContentLoaded', () =>
  sources.then(show).catch(() => tell('The reference could not be loaded. Reload the page to try again.')),
);

async function load(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.json();
}

function show([openapi, { guides, demoKey }]) {
  // The library takes what it finds for a page of its own that was made beforehand.
  document.querySelector('#reference').replaceChildren();
  const [scheme] = Object.keys(openapi.components.securitySchemes);
  Scalar.createApiReference('#reference', {
    content: withGuides(openapi, guides, demoKey),
    // Calls go to where the page is from, under any name of the service.
    servers: [{ url: new URL('.', new URL(dataset.document, location.href)).href.slice(0, -1) }],
    generateTagSlug: slugOf,
    authentication: {
      preferredSecurityScheme: scheme,
    },
    // Nothing is kept of a key, and nothing is asked of other hosts.
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
    hiddenClients: unaskedClients,
  });
  if (demoKey !== undefined) whenThere('input.scalar-password-input', (box) => type(demoKey, box));
  whenThere('button:has([class*="toggle-icon"])', (button) => button.setAttribute('aria-label', 'Dark mode'));
  document.addEventListener('click', showAnswer);
}

/** What is left is one way, if possible without a library, in each language of servers. */
const unaskedClients = {
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

/** Does something with an element of the library's as soon as there is one. */
function whenThere(selector, act) {
  const found = document.querySelector(selector);
  if (found !== null) return act(found);
  const observer = new MutationObserver(() => {
    const element = document.querySelector(selector);
    if (element === null) return;
    observer.disconnect();
    act(element);
  });
  observer.observe(document.querySelector('#reference'), { childList: true, subtree: true });
}

/**
 * Types a text into a box, for a reader to keep, change or remove. What the library is given as a key comes
 * back whenever its box is emptied.
 */
function type(text, box) {
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}

/** On a phone an answer comes below what is in sight. */
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
 * The document as the page shows it. A guide with the name of a part of the operations introduces that part;
 * each of the others is a part by itself.
 */
function withGuides(openapi, guides, demoKey) {
  // The document has its parts in the order of the alphabet, the page in that of the operations.
  const order = Object.values(openapi.paths).map(({ get }) => get.tags[0]);
  const parts = openapi.tags.toSorted((left, right) => order.indexOf(left.name) - order.indexOf(right.name));
  const introduced = parts.map((tag) => {
    const guide = guides.find(({ name }) => name === slugOf(tag));
    return guide === undefined ? tag : { ...tag, description: guide.text };
  });
  const taken = introduced.map(slugOf);
  const added = guides
    .filter(({ name }) => !taken.includes(name))
    .map(({ name, title, text }) => ({ name, 'x-displayName': title, description: text }));
  const names = (tags) => tags.map(({ name }) => name);
  return {
    ...openapi,
    info: introductionOf(openapi.info, demoKey),
    components: {
      ...openapi.components,
      parameters: mapValues(openapi.components.parameters, withoutChoice),
    },
    paths: mapValues(openapi.paths, (path) => mapValues(path, withBadge)),
    tags: [...added, ...introduced],
    'x-tagGroups': [
      { name: 'Start', tags: names(added.slice(0, 1)) },
      { name: 'Operations', tags: names(introduced) },
      { name: 'Guides', tags: names(added.slice(1)) },
    ],
  };
}

function slugOf({ name }) {
  return name.toLowerCase().replaceAll(' ', '-');
}

/** The guides tell the rest of the description, and the page is not the place for its license. */
function introductionOf({ title, version, description }, demoKey) {
  const key =
    demoKey === undefined
      ? 'To try calls from this page, put your API key into the box. It is gone when you leave.'
      : 'To try calls from this page, take the demo key that is in the box, or put your own in its place.';
  const tools = `For your tools, there is the [OpenAPI document](${dataset.document}).`;
  return { title, version, description: [description.split('\n\n')[0], key, tools].join('\n\n') };
}

/** The library would send the example of an optional parameter, such as a cursor that nobody was given. */
function withoutChoice({ example, ...parameter }) {
  if (parameter.required || example === undefined) return { ...parameter, example };
  return { ...parameter, examples: { default: { value: example, 'x-disabled': true } } };
}

function withBadge(operation) {
  return operation['x-stability'] === 'beta' ? { ...operation, 'x-badges': [{ name: 'Beta' }] } : operation;
}

function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** Shows a text instead of the reference. */
function tell(text) {
  const notice = document.createElement('p');
  notice.className = 'notice';
  notice.textContent = text;
  document.querySelector('#reference').replaceChildren(notice);
}
