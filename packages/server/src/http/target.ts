/** A request target cut in two. The path is left as it was sent: it is matched exactly, not decoded. */
interface Target {
  readonly path: string;
  readonly query: string;
}

/** Scheme and authority of an absolute-form target, which a proxy may send. */
const authority = /^https?:\/\/[^/?]*/i;

export function splitTarget(url: string): Target {
  const target = url.startsWith('/') ? url : url.replace(authority, '');
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
