// A self-signed certificate for localhost, made anew for each test run: no key is in the repository.
import { createSign, generateKeyPairSync } from 'node:crypto';

/** An element of DER: its tag, its length, its content. */
function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...content: readonly Buffer[]): Buffer => element(0x30, ...content);
const text = (tag: number, value: string): Buffer => element(tag, Buffer.from(value, 'latin1'));
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

const ecdsaWithSha256 = sequence(element(0x06, bytes('2a8648ce3d040302')));
const commonName = element(0x06, bytes('550403'));
const name = sequence(element(0x31, sequence(commonName, text(0x0c, 'localhost'))));
const validity = sequence(text(0x18, '20000101000000Z'), text(0x18, '21000101000000Z'));

export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const version3 = element(0xa0, element(0x02, bytes('02')));
  const serial = element(0x02, bytes('01'));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const content = sequence(version3, serial, ecdsaWithSha256, name, validity, name, spki);
  const signature = createSign('sha256').update(content).sign(privateKey);
  const der = sequence(content, ecdsaWithSha256, element(0x03, bytes('00'), signature));
  const lines = der.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
  };
}
