/** Linter rules that the OpenAPI document breaks on purpose. A test fails if an exception is not needed. */
interface Exception {
  readonly rule: string;
  /** The places, as the linter names them. */
  readonly place: RegExp;
  readonly why: string;
}

export const exceptions: readonly Exception[] = [
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    place: /\/headers$/,
    why: "There are no CORS headers, on purpose: a key does not belong in another site's page.",
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    place: /\/responses\/(401|404|405|408|431)\/headers$/,
    why: 'These are answered before the limiter is asked. They do not count, and have nothing left to tell.',
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    place: /^paths\/\/brands\/get\/responses\/403\/headers$/,
    why: 'A 403 of list brands is about the key, which is judged before the limiter is asked.',
  },
  {
    rule: 'oas3-operation-security-defined',
    place: /\/security\/0\/ApiKey\/0$/,
    why: 'OpenAPI 3.1 has scopes for every kind of credentials; the rule knows those of OAuth alone.',
  },
  {
    rule: 'owasp:api8:2023-no-server-http',
    place: /^servers\/0\/url$/,
    why: 'A sandbox of one machine is served by http there. Anywhere else the operator puts TLS in front.',
  },
  {
    rule: 'contact-properties',
    place: /^info\/contact$/,
    why: 'The address and mailbox are those of whoever runs the service; none is made up here.',
  },
];
