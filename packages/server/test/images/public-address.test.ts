import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPublicAddress } from '../../src/images/public-address.ts';

const open = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0'],
  ...['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ...['2001:200::', '2001:4860:4860::8888', '2003::1', '2606:4700:4700::1111', '2A00:1450::200E', '3ffe::1'],
];

const closed = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.1', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
  ...['127.0.0.1', '127.255.255.255', '168.63.129.16', '169.254.0.1', '169.254.169.254', '172.16.0.0'],
  ...['172.31.255.255', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255'],
  ...['198.18.0.0', '198.19.255.255', '198.51.100.1', '203.0.113.255', '224.0.0.1', '239.255.255.255'],
  ...['240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::7f00:1'],
  ...['64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '2001::1', '2001:1ff:ffff::1', '2001:db8::1'],
  ...['2002:7f00:1::1', '2002:808:808::1', '3fff::1', '3fff:fff:ffff::1', '4000::1', '5f00::1', 'fc00::1'],
  ...['fd00:ec2::254', 'fdff::1', 'fe80::1', 'fe80::1%eth0', '2606:4700::1111%eth0', 'fec0::1', 'ff02::1'],
];

const noAddress = [
  '',
  '8.8.8.8 ',
  ...'localhost 127.1 0x7f.1 2130706433 8.8.8 [2606::1] 08.8.8.8'.split(' '),
];

test('an address that anybody can reach is public', () => {
  for (const address of open) assert.ok(isPublicAddress(address), address);
});

test('a special address is not public, nor is a text that is no address', () => {
  for (const address of [...closed, ...noAddress]) assert.ok(!isPublicAddress(address), address);
});

/** Written as numbers, so that this list does not repeat a mistake of the tested one. */
const specialIpv4: readonly [from: number, to: number][] = [
  [0x00000000, 0x00ffffff],
  [0x0a000000, 0x0affffff],
  [0x64400000, 0x647fffff],
  [0x7f000000, 0x7fffffff],
  [0xa83f8110, 0xa83f8110],
  [0xa9fe0000, 0xa9feffff],
  [0xac100000, 0xac1fffff],
  [0xc0000000, 0xc00000ff],
  [0xc0000200, 0xc00002ff],
  [0xc0586300, 0xc05863ff],
  [0xc0a80000, 0xc0a8ffff],
  [0xc6120000, 0xc613ffff],
  [0xc6336400, 0xc63364ff],
  [0xcb007100, 0xcb0071ff],
  [0xe0000000, 0xffffffff],
];

const ipv4Text = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');

test('an IPv4 address is public exactly if it is in no special range', () => {
  const edges = specialIpv4.flatMap(([from, to]) => [from - 1, from, to, to + 1]);
  const near = fc.constantFrom(...edges.filter((value) => value >= 0 && value <= 0xffffffff));
  fc.assert(
    fc.property(fc.oneof(near, fc.nat(0xffffffff)), (value) => {
      const isSpecial = specialIpv4.some(([from, to]) => value >= from && value <= to);
      assert.equal(isPublicAddress(ipv4Text(value)), !isSpecial, ipv4Text(value));
    }),
    { numRuns: 2_000 },
  );
});

/** Looks at the first two groups only: no special range in global unicast needs more. */
function isSpecialIpv6([first = 0, second = 0]: readonly number[]): boolean {
  if (first < 0x2000 || first > 0x3fff) return true;
  if (first === 0x2001) return second < 0x0200 || second === 0x0db8;
  return first === 0x2002 || (first === 0x3fff && second < 0x1000);
}

test('an IPv6 address is public exactly if it is global unicast in no special range', () => {
  const group = fc.nat(0xffff);
  const first = fc.oneof(
    group,
    fc.constantFrom(0, 0x64, 0x1fff, 0x2000, 0x2001, 0x2002, 0x3fff, 0x4000, 0xfe80),
  );
  const second = fc.oneof(group, fc.constantFrom(0, 0x01ff, 0x0200, 0x0db7, 0x0db8, 0x0db9, 0x0fff, 0x1000));
  const groups = fc.tuple(first, second, group, group, group, group, group, group);
  fc.assert(
    fc.property(groups, (address) => {
      const text = address.map((value) => value.toString(16)).join(':');
      assert.equal(isPublicAddress(text), !isSpecialIpv6(address), text);
    }),
    { numRuns: 2_000 },
  );
});
