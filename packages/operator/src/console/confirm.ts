/** How a change is made: a page that names what will happen and asks why, a POST, and its result. */

import { holdsKey } from '@partner-network/common/text';
import {
  type AdminOperationId,
  adminBasePath,
  adminOperations,
} from '@partner-network/contract/admin/operations';
import { adminLimits } from '@partner-network/contract/limits';
import { Refusal } from '@partner-network/http/refusal';
import type { Partner } from '@partner-network/store/port';
import { requireRole } from '../admin/credentials.ts';
import type { ShownKey } from '../admin/lists.ts';
import { type Html, html, type Value } from './html.ts';
import { errorList, type Page, tokenField } from './layout.ts';
import { noteRefusal, type Outcome, type Visit } from './visit.ts';

/** What a change is about, read before it is made. */
export interface Subject {
  readonly name: Html;
  /** The page to return to. */
  readonly back: string;
  /** The partner that the change is about, or whose key it is about. */
  readonly partner?: Partner;
  readonly key?: ShownKey;
  /** What the change does to others, or who uses what is changed. */
  readonly says?: Value;
}

export interface Action {
  readonly operation: AdminOperationId;
  /** Below `/console`, if it is not the path of the operation. */
  readonly path?: string;
  readonly title: string;
  /** Whether it takes something away. */
  readonly isDanger?: boolean;
  subject(visit: Visit): Promise<Subject>;
  /** What will happen, one sentence each. */
  effects(subject: Subject): readonly Value[];
  /** Fields of the form besides the reason. */
  fields?(visit: Visit, subject: Subject): Html;
  /** The parameters of the operation's path, if they are not those of the page. */
  target?(form: URLSearchParams): Readonly<Record<string, string>>;
  /** The fields of the operation's body besides the reason. */
  body?(visit: Visit): object;
  /** What happened: a sentence for the page to return to, or a page of its own. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation has its own answer.
  result(answer: any, subject: Subject, form: URLSearchParams): string | Page;
}

/** The page that asks for a change, and again after a mistake in its form. */
function confirmPage(visit: Visit, action: Action, subject: Subject, refused?: Refusal): Page {
  const { title, isDanger = false } = action;
  const { session, form } = visit;
  const name = session.caller.keyId === undefined ? 'your name' : 'the id of your key';
  return {
    title,
    body: html`<h1>${title}</h1>
${refused && errorList(refused)}
<div class="sides"><div class="effects${isDanger && ' danger'}"><p>${subject.name}</p>
<ul>${action.effects(subject).map((effect) => html`<li>${effect}</li>`)}</ul></div>
<form class="fields" method="post">${tokenField(session)}
${action.fields?.(visit, subject)}
<label for="reason">Reason</label>
<input id="reason" name="reason" required maxlength="${adminLimits.reasonCharacters}" autocomplete="off"
value="${form.get('reason') ?? ''}" aria-describedby="about-reason">
<p class="hint" id="about-reason">It stays in the audit log for good, with ${name}. Write no personal
data.</p>
<p class="actions"><button class="${isDanger ? 'danger' : 'primary'}">${title}</button>
<a class="button" href="${subject.back}">Cancel</a></p>
</form></div>`,
  };
}

/** Makes the change. A mistake in the form leads back to the form, with what was written. */
async function change(visit: Visit, action: Action): Promise<Outcome> {
  const { call, form, ids, session, exchange } = visit;
  const subject = await action.subject(visit);
  try {
    // Never absent, so that the check of the body refuses an empty one.
    const body = { ...action.body?.(visit), reason: form.get('reason') ?? '' };
    const path = action.target?.(form) ?? ids;
    const result = action.result(await call(action.operation, { path, body }), subject, form);
    if (typeof result !== 'string') return result;
    return { to: `${subject.back}?${new URLSearchParams({ done: session.seal('notice', result) })}` };
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || ![400, 409].includes(thrown.status)) throw thrown;
    noteRefusal(exchange, thrown);
    // A key that was pasted into a wrong field must not be on a page.
    for (const [name, text] of [...form]) if (holdsKey(text)) form.set(name, '');
    return confirmPage(visit, action, subject, thrown);
  }
}

/** The two pages of an action. */
export function pagesOf(action: Action) {
  const { permission, path: ofOperation } = adminOperations[action.operation];
  const path = action.path ?? ofOperation.slice(adminBasePath.length);
  const ask = async (visit: Visit) => {
    requireRole(visit.session.caller, permission);
    return confirmPage(visit, action, await action.subject(visit));
  };
  const make = (visit: Visit) => change(visit, action);
  return [
    { method: 'GET', path, operation: 'consolePage', answer: ask },
    { method: 'POST', path, operation: 'consoleChange', answer: make },
  ] as const;
}
