/** What forms send: fields, and the proof that our own page sent them. */
import { isUtf8 } from 'node:buffer';
import querystring from 'node:querystring';
import { holdsKey } from '@partner-network/common/text';
import { encodingOfBody, readBody, typeOfBody } from '@partner-network/http/body';
import type { Exchange } from '@partner-network/http/handle';
import { Refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { adminRefusal } from '../admin/refusals.ts';
import { bodyLimits } from '../admin/request.ts';
import { isLocal, type Session } from './session.ts';

const formType = 'application/x-www-form-urlencoded';

/** The fields of a form. */
export async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  const isForm = typeOfBody(exchange) === formType && encodingOfBody(exchange) === 'identity';
  if (!isForm) throw adminRefusal('UNSUPPORTED_MEDIA_TYPE', { types: `${formType}, without an encoding` });
  const body = Buffer.concat(await readBody(exchange, bodyLimits));
  return new URLSearchParams(isUtf8(body) ? body.toString() : '');
}

const refused = (detail: string) =>
  new Refusal([{ category: 'INVALID_REQUEST_ERROR', code: 'FORGED_REQUEST', detail }], [], 403);

/** Refuses a form that another site sends. Browsers say where a form comes from; other clients need not. */
export function requireOwnSite({ rawHeaders }: Exchange, publicUrl: string): void {
  const [site] = headerValues(rawHeaders, 'sec-fetch-site');
  const [origin] = headerValues(rawHeaders, 'origin');
  const [host] = headerValues(rawHeaders, 'host');
  // Through a tunnel, a local address has another port. Its name must be local, too: any website can give
  // its own name the address 127.0.0.1.
  const isOwn =
    origin === undefined ||
    origin === new URL(publicUrl).origin ||
    (isLocal(publicUrl) && isLocal(origin) && URL.parse(origin)?.host === host);
  if (isOwn && (site === undefined || site === 'same-origin')) return;
  throw refused(`The form comes from another address than ${publicUrl}. Open the console there, and repeat.`);
}

/** Refuses a form without a token of the session. */
export function requireToken(session: Session, form: URLSearchParams): void {
  if (session.isOwnToken(form.get('token') ?? '')) return;
  throw refused('The form is not of this session. Open the page again, and repeat what you did.');
}

/** The address to return to after the sign-in: a page of the console, and nothing else. */
export function returnPath(asked: string | null): string {
  const url = asked === null || !asked.startsWith('/') ? null : URL.parse(asked, 'http://console');
  const isOwn = url?.host === 'console' && /^\/console(?:$|\/)/.test(url.pathname);
  return isOwn && !holdsKey(querystring.unescape(url.href)) ? url.pathname + url.search : '/console';
}
