/**
 * Requests for certificates as clients make them: PKCS #10 in PEM. Read as far as a signer must know them; whether the
 * signature is the key's own is for a port to say, for nothing here knows cryptography.
 * Source: RFC 2986; RFC 5280, sections 4.1.2.4 and 4.2.1.6; RFC 7468.
 */
import { decodeBase64 } from "../../../wire/base64.ts";
import { DerError, type DerItem, itemsOf, objectIdText, readDer, setTag } from "./der.ts";

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** Four or sixteen bytes each. */
  readonly addresses: readonly Uint8Array[];
  /** Other alternative names: of mail, URIs. */
  readonly otherNames: readonly string[];
  /** SubjectPublicKeyInfo, in DER. */
  readonly publicKey: Uint8Array;
  /** What is signed, in DER, and how. */
  readonly body: Uint8Array;
  readonly signatureAlgorithm: string;
  readonly signature: Uint8Array;
}

export interface RequestError {
  readonly error: string;
}

/** Of a request in base64, which is read whole at once. Simplification: the real server reads as much as an object may have. */
const charactersMax = 256 * 1024;

/** `base64` is the field as an object carries it. */
export function parseCertificateRequest(base64: string): CertificateRequest | RequestError {
  if (base64.length > charactersMax)
    return { error: `the request is longer than ${charactersMax} characters in base64` };
  const pem = decodeBase64(base64);
  const text = pem instanceof Uint8Array ? new TextDecoder("latin1").decode(pem) : "";
  const der = requestBlock(text);
  if (der === undefined) return { error: "PEM block type must be CERTIFICATE REQUEST" };
  try {
    return readRequest(readDer(der));
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return { error: `asn1: structure error: ${error.message}` };
  }
}

/** The first block of a PEM text, when it is a request. */
function requestBlock(text: string): Uint8Array | undefined {
  const block = firstBlock(text);
  if (block?.label !== "CERTIFICATE REQUEST") return undefined;
  const der = decodeBase64(block.body.replace(/\s/g, ""));
  return der instanceof Uint8Array ? der : undefined;
}

/** What begins first of all that ends. Heads without an end are passed over, however many there are. */
function firstBlock(text: string): { readonly label: string; readonly body: string } | undefined {
  const lastEnds = new Map<string, number>();
  for (const { 1: label = "", index } of text.matchAll(/-----END ([A-Z0-9 ]+)(?=-----)/g)) lastEnds.set(label, index);
  for (const { 0: head, 1: label = "", index } of text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----\r?\n/g)) {
    const from = index + head.length;
    if ((lastEnds.get(label) ?? -1) < from) continue;
    return { label, body: text.slice(from, text.indexOf(`-----END ${label}-----`, from)) };
  }
  return undefined;
}

function readRequest(whole: DerItem): CertificateRequest {
  const [body, algorithm, signature] = itemsOf(whole);
  const [version, subject, publicKey, attributes] = itemsOf(body);
  if (version?.tag !== 0x02 || publicKey?.tag !== 0x30 || signature?.tag !== 0x03)
    throw new DerError("tags don't match");
  if (publicKey.content.length === 0 || signature.content[0] !== 0) throw new DerError("invalid bit string");
  const names = attributes === undefined ? noNames : alternativeNames(attributes);
  return {
    ...readSubject(subject),
    ...names,
    publicKey: publicKey.whole,
    body: (body as DerItem).whole,
    signatureAlgorithm: objectIdText(itemsOf(algorithm)[0]),
    signature: signature.content.subarray(1),
  };
}

const commonNameId = "2.5.4.3";
const organizationId = "2.5.4.10";

function readSubject(subject: DerItem | undefined): Pick<CertificateRequest, "commonName" | "organizations"> {
  let commonName = "";
  const organizations: string[] = [];
  for (const set of itemsOf(subject)) {
    for (const attribute of itemsOf(set, setTag)) {
      const [id, value] = itemsOf(attribute);
      const text = new TextDecoder().decode(value?.content);
      if (objectIdText(id) === commonNameId) commonName = text;
      else if (objectIdText(id) === organizationId) organizations.push(text);
    }
  }
  return { commonName, organizations };
}

type Names = Pick<CertificateRequest, "dnsNames" | "addresses" | "otherNames">;
const noNames: Names = { dnsNames: [], addresses: [], otherNames: [] };
const extensionRequestId = "1.2.840.113549.1.9.14";
const alternativeNameId = "2.5.29.17";

function alternativeNames(attributes: DerItem): Names {
  for (const attribute of itemsOf(attributes, 0xa0)) {
    const [id, values] = itemsOf(attribute);
    if (objectIdText(id) !== extensionRequestId) continue;
    for (const extension of itemsOf(itemsOf(values, setTag)[0])) {
      const parts = itemsOf(extension);
      if (objectIdText(parts[0]) === alternativeNameId) return namesIn(readDer((parts.at(-1) as DerItem).content));
    }
  }
  return noNames;
}

const mailTag = 0x81;
const dnsTag = 0x82;
const uriTag = 0x86;
const addressTag = 0x87;

function namesIn(list: DerItem): Names {
  const items = itemsOf(list);
  const texts = (tag: number): string[] =>
    items.filter((item) => item.tag === tag).map(({ content }) => new TextDecoder().decode(content));
  const addresses = items.filter(({ tag }) => tag === addressTag).map(({ content }) => content);
  return { dnsNames: texts(dnsTag), addresses, otherNames: [...texts(mailTag), ...texts(uriTag)] };
}
