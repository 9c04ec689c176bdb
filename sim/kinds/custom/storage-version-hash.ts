/**
 * The hash by which a client of discovery sees that a resource is stored in another version: the first eight bytes of
 * SHA-256 over group, version and kind. Source: recorded discovery answers, whose hashes a test computes again.
 */
import { encodeBase64 } from "../../../wire/base64.ts";

export function storageVersionHash(group: string, version: string, kind: string): string {
  return encodeBase64(sha256(new TextEncoder().encode(`${group}/${version}/${kind}`)).subarray(0, 8));
}

/** FIPS 180-4. Not for secrets: nothing here takes care of timing. */
export function sha256(message: Uint8Array): Uint8Array {
  const state = Int32Array.from(initial);
  const padded = new Uint8Array(((message.length + 72) >>> 6) << 6);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, message.length * 8);
  const words = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let at = 0; at < 16; at++) words[at] = view.getInt32(block + at * 4);
    compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, at) => digest.setInt32(at * 4, word));
  return new Uint8Array(digest.buffer);
}

function compress(state: Int32Array, words: Int32Array): void {
  const at = (index: number): number => words[index] as number;
  for (let index = 16; index < 64; index++) {
    const early = at(index - 15);
    const late = at(index - 2);
    const first = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const second = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[index] = (at(index - 16) + first + at(index - 7) + second) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const choice = (e & f) ^ (~e & g);
    const mixed = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const one = (h + mixed + choice + (constants[index] as number) + at(index)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const two = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = ((state[index] as number) + word) | 0;
  });
}

const rotated = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

const firstPrimes = (count: number): readonly number[] => {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
};

/** The first 32 bits behind the point of a prime's root, found by halving: exact, and the same on every engine. */
function rootFraction(prime: number, power: 2 | 3): number {
  let root = 0n;
  const wanted = BigInt(prime) << BigInt(32 * power);
  for (let bit = 36n; bit >= 0n; bit--) {
    const next = root | (1n << bit);
    if ((power === 2 ? next * next : next * next * next) <= wanted) root = next;
  }
  return Number(root & 0xffff_ffffn);
}

const primes = firstPrimes(64);
const initial = primes.slice(0, 8).map((prime) => rootFraction(prime, 2));
const constants = primes.map((prime) => rootFraction(prime, 3) | 0);
