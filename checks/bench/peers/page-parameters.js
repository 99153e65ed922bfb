/** Checks the parameters of a page, for the peers whose framework does not. */

export function pageParameters({ after, limit = '50' }) {
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > 100) {
    throw Object.assign(new Error('limit must be 1 to 100.'), { status: 400 });
  }
  if (after !== undefined && typeof after !== 'string') {
    throw Object.assign(new Error('after must be given once.'), { status: 400 });
  }
  return { after, limit: Number(limit) };
}
