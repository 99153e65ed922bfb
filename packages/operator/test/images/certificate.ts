import { generateKeyPairSync, sign } from 'node:crypto';

/** Encodes an ASN.1 value: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const hex = (text: string) => Buffer.from(text, 'hex');
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const time = (text: string) => der(0x18, Buffer.from(text));

/** A key and a self-signed certificate for a host. */
export function selfSigned(host: string): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(hex('06082a8648ce3d040302'));
  const commonName = sequence(hex('0603550403'), der(0x0c, Buffer.from(host)));
  const name = sequence(der(0x31, commonName));
  const alternativeNames = sequence(der(0x82, Buffer.from(host)));
  const content = sequence(
    der(0xa0, hex('020102')),
    hex('020101'),
    ecdsaWithSha256,
    name,
    sequence(time('20200101000000Z'), time('29990101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(hex('0603551d11'), der(0x04, alternativeNames)))),
  );
  const signature = sign('sha256', content, privateKey);
  const whole = sequence(content, ecdsaWithSha256, der(0x03, hex('00'), signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}
