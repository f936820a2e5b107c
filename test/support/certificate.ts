import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";

/** A server's certificate with its key, and that of the authority that has issued it; all in PEM. */
export interface Certificate {
  readonly authority: string;
  readonly cert: string;
  readonly key: string;
}

/** The last day that the short form of a date can have. */
const lastDay = new Date("2049-12-31");

/** A certificate for a host name until the end of a day in UTC, by an authority that nobody knows yet. */
export function certificateFor(host: string, end = lastDay): Certificate {
  const newKeys = () => generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const [authority, server] = [newKeys(), newKeys()];
  const issuer = { name: "Test authority", key: authority.privateKey };
  const isAuthority = extension([0x55, 0x1d, 0x13], der(0x30, der(0x01, Buffer.of(0xff))));
  const hasName = extension([0x55, 0x1d, 0x11], der(0x30, der(0x82, Buffer.from(host))));
  return {
    authority: issued(issuer, { name: issuer.name, key: authority.publicKey }, lastDay, isAuthority),
    cert: issued(issuer, { name: "Test server", key: server.publicKey }, end, hasName),
    key: server.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

interface Party {
  readonly name: string;
  readonly key: KeyObject;
}

// Node.js makes keys and signatures, and no certificates. This is RFC 5280 in DER.
function issued(issuer: Party, subject: Party, end: Date, ...extensions: Buffer[]): string {
  const algorithm = der(0x30, objectId([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
  const time = (text: string): Buffer => der(0x17, Buffer.from(text));
  const content = der(
    0x30,
    // Version 3.
    der(0xa0, der(0x02, Buffer.of(2))),
    // The serial number.
    der(0x02, Buffer.of(1), randomBytes(8)),
    algorithm,
    nameOf(issuer),
    der(0x30, time("200101000000Z"), time(`${end.toISOString().slice(2, 10).replaceAll("-", "")}235959Z`)),
    nameOf(subject),
    subject.key.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, ...extensions)),
  );
  const bytes = der(0x30, content, algorithm, bits(sign("sha256", content, issuer.key)));
  const lines = bytes.toString("base64").replace(/.{64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

const bits = (bytes: Buffer): Buffer => der(0x03, Buffer.of(0), bytes);
const objectId = (bytes: number[]): Buffer => der(0x06, Buffer.from(bytes));
const extension = (id: number[], value: Buffer): Buffer => der(0x30, objectId(id), der(0x04, value));

function nameOf({ name }: Party): Buffer {
  return der(0x30, der(0x31, der(0x30, objectId([0x55, 0x04, 0x03]), der(0x0c, Buffer.from(name)))));
}
