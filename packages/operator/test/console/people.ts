/** People who sign in to the console with an identity provider. */
import type { TestContext } from 'node:test';
import { type ScriptedProvider, scriptedProvider } from '../../../testkit/identity/scripted.ts';
import type { OidcSettings } from '../../src/identity/settings.ts';
import { consoleScene, oidcOf } from './scene.ts';

export const start = '/console/sign-in/start';
export const callback = '/console/sign-in/callback';

/** A browser that keeps every cookie, and sends only those that are Lax on the way back from another site. */
export function personAt(address: string) {
  const jar = new Map<string, { value: string; isLax: boolean }>();
  const get = async (
    path: string,
    { isBack = false, form = undefined as URLSearchParams | undefined } = {},
  ) => {
    const sent = [...jar].filter(([, { isLax }]) => isLax || !isBack);
    const response = await fetch(address + path, {
      redirect: 'manual',
      headers: { cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    });
    for (const header of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(header)!;
      if (value === '') jar.delete(name!);
      else jar.set(name!, { value: value!, isLax: header.includes('SameSite=Lax') });
    }
    const { status, headers } = response;
    return { status, headers, text: await response.text(), to: headers.get('location') ?? '' };
  };
  return { jar, get };
}

export type Person = ReturnType<typeof personAt>;

export async function signInScene(t: TestContext, settings: Partial<OidcSettings> = {}, engine = 'sqlite') {
  const provider = await scriptedProvider(t);
  const oidc = oidcOf(provider.issuer.href, settings);
  const opened = await consoleScene(t, engine, oidc);
  const open = () => personAt(opened.address);
  return { ...opened, oidc, provider, open };
}

/** Goes to the provider and back. `change` changes the address at which the browser comes back. */
export async function signIn(
  person: Person,
  provider: ScriptedProvider,
  { next = '/console', change = (_back: URLSearchParams) => {} } = {},
) {
  const asked = await person.get(`${start}?${new URLSearchParams({ next })}`);
  if (asked.status !== 303) return asked;
  const back = new URLSearchParams({
    code: provider.codeFor(asked.to),
    state: new URL(asked.to).searchParams.get('state')!,
  });
  change(back);
  return person.get(`${callback}?${back}`, { isBack: true });
}
