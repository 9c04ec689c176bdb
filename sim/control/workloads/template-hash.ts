/**
 * The name part that follows from a pod template. Source: the published controllers: a sum over the template, written
 * in an alphabet without vowels.
 *
 * Simplification: the sum is our own digest of the template. The real one is over a dump of Go's structures, so that
 * its letters differ.
 */
import type { Json } from "../../contract/http-message.ts";
import { digestOf } from "../../objects/digest.ts";

const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const sumMax = 0x1_0000_0000;

/** `collisions` makes another name of the same template. */
export function templateHash(template: object, collisions = 0): string {
  return safeText(String((digestOf(template as Json) + collisions) % sumMax));
}

/** Digits as letters that make no words. */
function safeText(text: string): string {
  let safe = "";
  for (let at = 0; at < text.length; at++) safe += alphabet[text.charCodeAt(at) % alphabet.length];
  return safe;
}
