import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRedisUrl } from '../../../src/limiter/redis/url.ts';

const plain = { host: 'cache.example', port: 6379, username: undefined, password: undefined, db: 0 };

test('accepts a host, and optionally a port, user, password and database number', () => {
  const taken = {
    'redis://cache.example': plain,
    'redis://cache.example/': plain,
    'redis://cache.example:6380/15': { ...plain, port: 6380, db: 15 },
    'rediss://cache.example': { ...plain, tls: {} },
    'redis://:p%40ss%2F@cache.example': { ...plain, password: 'p@ss/' },
    'redis://us%3Aer:pw@cache.example': { ...plain, username: 'us:er', password: 'pw' },
    'redis://127.0.0.1:1': { ...plain, host: '127.0.0.1', port: 1 },
    'redis://[::1]:7000': { ...plain, host: '::1', port: 7000 },
  };
  for (const [url, address] of Object.entries(taken)) assert.deepEqual(parseRedisUrl(url), address, url);
});

test('accepts the nodes of a cluster, with one user, password and scheme for all', () => {
  const [one, two] = [
    { host: 'cache.example', port: 6379 },
    { host: '::1', port: 7000 },
  ];
  const taken = {
    'redis-cluster://cache.example': { ...plain, nodes: [one] },
    'redis-cluster://cache.example,[::1]:7000': { ...plain, nodes: [one, two] },
    'rediss-cluster://us%40er:p,w@cache.example:6379,[::1]:7000': {
      ...plain,
      username: 'us@er',
      password: 'p,w',
      tls: {},
      nodes: [one, two],
    },
  };
  for (const [url, address] of Object.entries(taken)) assert.deepEqual(parseRedisUrl(url), address, url);
});

test('rejects every ambiguous URL', () => {
  const refused = [
    '',
    'cache.example:6379',
    'http://cache.example',
    'redis:cache.example',
    'redis://',
    'redis:///0',
    'redis://cache.example:port',
    'redis://cache.example:65536',
    'redis://cache.example/zero',
    'redis://cache.example/0/1',
    'redis://cache.example?db=1',
    'redis://:a#b@cache.example',
    'redis://:%zz@cache.example',
    'redis://%zz:pw@cache.example',
    'redis://cache.example/-1',
    'redis:// cache.example',
    'redis-cluster://',
    'redis-cluster://a,',
    'redis-cluster://a,b/0',
    'redis-cluster://a:x,b',
    'redis-cluster://u:p@a,v:q@b',
    'redis-cluster://a,b?x=1',
    'redis://a,b:1',
    'cluster://a',
  ];
  for (const url of refused) assert.equal(parseRedisUrl(url), undefined, url);
});
