/**
 * Ed25519 signatures without a draw of chance. The library signs as well, and blinds its arithmetic with the machine's
 * random numbers, which nothing in a run may ask for; here its points are multiplied plainly. Not for secrets: nothing
 * takes care of timing. Source: RFC 8032, 5.1.5 and 5.1.6; FIPS 180-4, 5.3.5 and 6.4 (SHA-512).
 */
import { ed25519 } from "@noble/curves/ed25519.js";

export interface PortableSigner {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

const { Point } = ed25519;
const order = Point.Fn.ORDER;
const half = 32;

/** `secret` has 32 bytes. */
export function portableSigner(secret: Uint8Array): PortableSigner {
  const hashed = sha512(secret);
  const head = hashed.slice(0, half);
  head[0] = (head[0] as number) & 0xf8;
  head[half - 1] = ((head[half - 1] as number) & 0x7f) | 0x40;
  const scalar = littleEndian(head) % order;
  const prefix = hashed.slice(half);
  const publicKey = multiplied(scalar);
  return {
    publicKey,
    sign(message) {
      const nonce = littleEndian(sha512(joined(prefix, message))) % order;
      const commitment = multiplied(nonce);
      const challenge = littleEndian(sha512(joined(commitment, publicKey, message))) % order;
      return joined(commitment, Point.Fn.toBytes((nonce + challenge * scalar) % order));
    },
  };
}

const multiplied = (scalar: bigint): Uint8Array => Point.BASE.multiplyUnsafe(scalar).toBytes();

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let at = bytes.length - 1; at >= 0; at--) value = (value << 8n) | BigInt(bytes[at] as number);
  return value;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const blockBytes = 128;
const roundCount = 80;

export function sha512(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((message.length + 17) / blockBytes) * blockBytes);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  const state = [...initial];
  for (let block = 0; block < padded.length; block += blockBytes) compress(state, view, block);
  const digest = new DataView(new ArrayBuffer(64));
  state.forEach((word, at) => digest.setBigUint64(at * 8, word));
  return new Uint8Array(digest.buffer);
}

type State = [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];

function compress(state: bigint[], view: DataView, block: number): void {
  const words: bigint[] = [];
  const at = (index: number): bigint => words[index] as bigint;
  for (let index = 0; index < 16; index++) words.push(view.getBigUint64(block + index * 8));
  for (let index = 16; index < roundCount; index++) {
    const [early, late] = [at(index - 15), at(index - 2)];
    const first = rotated(early, 1n) ^ rotated(early, 8n) ^ (early >> 7n);
    const second = rotated(late, 19n) ^ rotated(late, 61n) ^ (late >> 6n);
    words.push(word(at(index - 16) + first + at(index - 7) + second));
  }
  let [a, b, c, d, e, f, g, h] = state as State;
  for (let index = 0; index < roundCount; index++) {
    const choice = (e & f) ^ (word(~e) & g);
    const mixed = rotated(e, 14n) ^ rotated(e, 18n) ^ rotated(e, 41n);
    const one = word(h + mixed + choice + (constants[index] as bigint) + at(index));
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const two = word((rotated(a, 28n) ^ rotated(a, 34n) ^ rotated(a, 39n)) + majority);
    [h, g, f, e, d, c, b, a] = [g, f, e, word(d + one), c, b, a, word(one + two)];
  }
  [a, b, c, d, e, f, g, h].forEach((value, index) => {
    state[index] = word((state[index] as bigint) + value);
  });
}

const word = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotated = (value: bigint, bits: bigint): bigint => word((value >> bits) | (value << (64n - bits)));

function firstPrimes(count: number): readonly bigint[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes.map(BigInt);
}

/** The largest integer whose power is not above `value`, by halving. */
function root(value: bigint, power: 2 | 3): bigint {
  let [low, high] = [0n, 1n << 72n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    const raised = power === 2 ? middle * middle : middle * middle * middle;
    if (raised <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** The first 64 bits of the fractions of square and cube roots of primes. */
const initial: readonly bigint[] = firstPrimes(8).map((prime) => word(root(prime << 128n, 2)));
const constants: readonly bigint[] = firstPrimes(roundCount).map((prime) => word(root(prime << 192n, 3)));
